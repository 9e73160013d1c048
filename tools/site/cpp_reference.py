"""The C++ reference: the public headers' own contracts, a page per room. A header is shown as it stands, declaration by declaration, with the
comment above each as text."""

import re

_NAMED = re.compile(
    r"^(?:template <[^\n]*>\s*)?(?:inline |constexpr |extern )*(?:class|struct|enum class|enum|using|concept|namespace)\s+(?:\[\[\w+\]\]\s*)?(\w+)", re.M
)
_CALLED = re.compile(r"(\w+)\s*\(")
_MACRO = re.compile(r"#define (\w+)")


HEAD = """# C++ reference

What a program may include, as `cmake/ArgosyPublicHeaders.cmake` lists it. `#include <argosy/argosy.h>` has the programs and servers,
`#include <argosy/collective.h>` the libtorch modules; the rest is what these include, and `<argosy/engine/program/op.h>` for operators of
one's own."""


def public_headers(root):
    """What cmake/ArgosyPublicHeaders.cmake lists."""
    text = re.sub(r"#.*", "", (root / "cmake/ArgosyPublicHeaders.cmake").read_text(encoding="utf-8"))
    return sorted({word for word in re.findall(r"argosy/[\w/]+\.h", text) if (root / word).is_file()})


def pages(root):
    """{path: markdown}: reference/cpp/ROOM.md with the headers of each room, and the list of them."""
    rooms = {}
    for header in public_headers(root):
        rooms.setdefault(header.split("/")[1].removesuffix(".h") if "/" in header[7:] else "umbrellas", []).append(header)
    made = {f"reference/cpp/{room}.md": _room_page(root, room, headers) for room, headers in rooms.items()}
    made["reference/cpp/index.md"] = _index(root, rooms)
    return made


def _index(root, rooms):
    lines = [*HEAD.split("\n"), ""]
    for room, headers in rooms.items():
        lines += [f"## {room}", ""]
        lines += [f"- [`{header}`]({room}.md#{_anchor(header)}): {_summary((root / header).read_text(encoding='utf-8'))}" for header in headers]
        lines.append("")
    return "\n".join(lines)


def _room_page(root, room, headers):
    lines = [f"# C++: {room}", ""]
    for header in headers:
        lines += [f"## {header} {{ #{_anchor(header)} }}", "", f"```cpp\n#include <{header}>\n```", ""]
        lines += declarations((root / header).read_text(encoding="utf-8"))
    return "\n".join(lines) + "\n"


def _anchor(header):
    return re.sub(r"\W+", "-", header)


def _summary(text):
    """The first sentence of the first comment."""
    comment = next((part for part, _ in chunks(text) if part), "")
    return escaped(re.split(r"(?<=[.:]) ", comment.replace("\n", " "))[0].rstrip(":")) or "one include for all of it"


def escaped(text):
    return re.sub(r"([<>*_\[\]|])", r"\\\1", text)


def chunks(text):
    """[(comment, code)] of a header's body: what blank lines outside of braces separate."""
    text = re.sub(r"^#(pragma|include|if|endif|else).*\n", "", text, flags=re.M)
    text = re.sub(r"^(inline )?namespace [\w:]* ?\{.*\n|^\}  ?// namespace.*\n?", "", text, flags=re.M)
    found, lines, depth = [], [], 0
    for line in [*text.split("\n"), ""]:
        if not line.strip() and depth <= 0:
            found.append(lines)
            lines, depth = [], 0
            continue
        lines.append(line)
        code = re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)
        depth += code.count("{") - code.count("}") + code.count("(") - code.count(")")
    return [_divided(lines) for lines in found if lines]


def _divided(lines):
    """The comment at the front of a chunk, and the code behind it."""
    count = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    comment = "\n".join(line.removeprefix("//").strip() for line in lines[:count])
    return comment, _without_private("\n".join(lines[count:]))


def _without_private(code):
    """A class without its private part, which is no contract."""
    return re.sub(r"\n*^ (private|protected):\n.*?(?=^ public:|^\};)", "\n", code, flags=re.M | re.S)


def declarations(text):
    """Markdown lines: for each chunk its name, what its comment says, and the code."""
    lines = []
    for comment, code in chunks(text):
        name = code and _name(code)
        if name:
            lines += [f"### `{name}`", ""]
        lines += [escaped(comment), ""] if comment else []
        lines += [f"```cpp\n{code}\n```", ""] if code else []
    return lines


def _name(code):
    first = code.split("{")[0]
    found = _NAMED.search(first) or _MACRO.search(code) or _CALLED.search(first)
    return found[1] if found else None
