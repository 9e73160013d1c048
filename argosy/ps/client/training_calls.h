#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/comparison.h"
#include "argosy/ps/client/payload.h"
#include "argosy/ps/client/pool.h"
#include "argosy/ps/client/push_rounder.h"
#include "argosy/ps/client/row_split.h"
#include "argosy/ps/client/session.h"

namespace argosy::ps {

// What a client does in every step: pull and push. Cuts each call into one message per server and joins the answers. Client has
// the contracts.
//
// Thread-safe.
class TrainingCalls {
 public:
  TrainingCalls(Session& session, Comparison& comparison)
      : session_(session), comparison_(comparison), rounder_(session.spec()) {}

  Status pull_rows(std::span<const RowRequest> requests, std::optional<Position> min_step, Deadline deadline, Numbers numbers,
                   ReadAt* read_at);
  Status pull_dense(std::span<const DenseRequest> requests, std::optional<Position> min_step, Deadline deadline, Numbers numbers,
                    ReadAt* read_at);
  Status push(const Push& push);

  uint64_t pushes() const { return pushes_; }  // messages sent

 private:
  // The memory of one push or pull on its way; see Pool.
  struct Scratch {
    RowSplit split;
    std::vector<std::span<const uint64_t>> lists;
    std::vector<uint64_t> keys;  // of one server and list, for packed messages
    std::vector<float> floats;
  };

  // A table's part of a push, dense or sparse.
  struct PushPart {
    int table = 0;
    const DenseGradient* dense = nullptr;
    const RowGradients* rows = nullptr;
    size_t list = 0;  // of the split

    bool has_statistics() const { return rows != nullptr && (rows->shows != nullptr || rows->clicks != nullptr); }
  };

  Servers& servers() const { return session_.servers(); }
  const JobSpec& job() const { return session_.spec(); }

  bool packs(Numbers numbers) const { return numbers == Numbers::on_wire && rounder_.rounds(); }

  Status pull_rows_alike(std::span<const RowRequest> requests, bool create, std::optional<Position> min_step, Deadline deadline,
                         Numbers numbers, ReadAt* read_at);
  Status store_dense(int server, std::span<const DenseRequest> requests, const rpc::Received& received) const;
  static Status store_rates(std::span<const DenseRequest> requests, std::span<const rpc::Received> answers);
  Status store_rows(int server, std::span<const RowRequest> requests, const RowSplit& split, const rpc::Received& received) const;
  Result<std::vector<PushPart>> parts_of(const Push& push, Scratch& scratch) const;
  Result<std::vector<BatchId>> lacking(int server, const Push& push) const;
  uint64_t samples_for(int server, const Push& push) const;
  rpc::Message push_message(int server, const Push& push, std::span<const BatchId> batches, uint64_t sequence,
                            std::span<const PushPart> parts, Scratch& scratch);
  std::vector<rpc::Slice> push_payload(int server, const Push& push, std::span<const PushPart> parts, const RowSplit& split);
  void write_rows(int server, const PushPart& part, const RowSplit& split, const std::shared_ptr<const void>& owner,
                  PayloadWriter& payload) const;
  static void write_statistics(int server, const PushPart& part, const RowSplit& split, PayloadWriter& payload);

  // ---- Of packed messages (training_calls_packed.cc).

  // The keys of a list that live on `server`; says in the section whether they are short.
  static void write_packed_keys(int server, size_t list, std::span<const uint64_t> keys, Scratch& scratch, wire::Section& section,
                                PayloadWriter& payload);
  // What push_payload() is of plain ones; completes the sections of `header`.
  std::vector<rpc::Slice> packed_payload(int server, std::span<const PushPart> parts, Scratch& scratch,
                                         wire::PushRequest& header);
  void write_rounded_rows(int server, const PushPart& part, Scratch& scratch, PayloadWriter& payload);
  Status store_packed_rows(int server, std::span<const RowRequest> requests, Scratch& scratch,
                           const rpc::Received& received) const;
  Status store_packed_dense(int server, std::span<const DenseRequest> requests, const rpc::Received& received);
  void warn_of_lost_residuals() const;

  Session& session_;
  Comparison& comparison_;
  PushRounder rounder_;
  std::atomic<bool> has_pushed_ = false;
  Pool<Bytes> bytes_;
  Pool<Scratch> scratch_;
  std::atomic<uint64_t> sequence_{0};
  std::atomic<uint64_t> pushes_{0};
};

}  // namespace argosy::ps
