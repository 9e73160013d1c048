"""`argosy convert`: a saved model in another format.

argosy convert models/epoch3.model model.onnx            for onnxruntime, ragged slots included
argosy convert models/epoch3.model model.safetensors     all parameters
argosy convert models/epoch3.model rows.parquet          the rows of the tables: table, key, value

With --from it is samples that are converted, text to Parquet and back: argosy convert --from criteo --help.
"""

import argparse
import os
import sys

from argosy.serve import to_onnx, to_parquet, to_safetensors

FORMATS = {".onnx": to_onnx, ".safetensors": to_safetensors, ".parquet": to_parquet}


def main(arguments=None):
    """Converts as the command line says; returns the status to end with."""
    parser = argparse.ArgumentParser(prog="argosy convert", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="what save_inference_model has written, here or in PaddlePaddle")
    parser.add_argument("file", help="the new file, here or in an object store (s3://bucket/model.onnx); its ending says the format")
    chosen = parser.parse_args(arguments)
    convert = FORMATS.get(os.path.splitext(chosen.file.split("?")[0] if "://" in chosen.file else chosen.file)[1])
    if convert is None:
        parser.error(f"'{chosen.file}' ends with none of {', '.join(FORMATS)}")
    try:
        names = convert(chosen.model, chosen.file)
    except (ImportError, NotImplementedError, ValueError, OSError, RuntimeError) as error:
        sys.stderr.write(f"argosy convert: {error}\n")
        return 1
    print(f"{chosen.file}: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
