#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/state/membership.h"
#include "argosy/ps/state/name_count.h"

namespace argosy::ps {

// Lists of files that are handed out to the readers of workers, each file to one reader; see wire::NextFileRequest. A reader's
// files of a list are numbered from 1, and the same number gets the same file, so that a repeated or replayed call finds its old
// answer.
//
// When the job goes on without a worker, the files that it still needed are handed out again, before those that nobody has had.
// A worker that comes back has those again that nobody has taken meanwhile; where another has one of them, it gets no more files
// of the list.
//
// Thread-compatible: the caller serialises all calls.
class FileLists {
 public:
  // Both outlive this.
  FileLists(const Membership& members, NameCount& names) : members_(members), name_count_(names) {}

  // ---- Records. REQUIRES: the worker exists.

  // Assigns a file, or notes that there was none. REQUIRES: file() of the request is ok, and news.
  void hand_out(const wire::NextFileRequest& request);
  // The job goes on without the worker.
  void lose(int worker);
  // It is back.
  void rejoin(int worker);

  // ---- Questions. REQUIRES: the worker exists.

  struct File {
    enum Kind { assigned, unassigned, done } kind = done;
    uint64_t place = 0;  // in the list, of one that is assigned
    bool news = false;   // hand_out() would change something
  };
  // The reader's `number`-th file of the list; unassigned: hand_out() would assign one. invalid_argument: the request does not
  // fit what the list is; failed_precondition: the worker was lost, and another has a file of it; resource_exhausted: there is no
  // room for another list.
  Result<File> file(const wire::NextFileRequest& request) const;
  // What a reader is told of it. REQUIRES: it is done, or assigned in the request's list.
  wire::NextFileReply answer(const wire::NextFileRequest& request, const File& file) const;
  // What became of the files of the ledger's worker, where it is lost.
  void describe(wire::WorkerLedger& ledger) const;

  // ---- The state's image: `lists` of it.
  void save(wire::ExchangeImage* image) const;
  // Takes them in place of what was there. data_loss: they cannot be read; what is here then is a part of them.
  Status restore(const wire::ExchangeImage& image);

 private:
  struct ReturnedFile {
    uint64_t place = 0;
    uint32_t by = 0;  // the lost worker that had it
  };
  struct List {
    uint64_t files = 0;  // 0: nobody has said
    uint64_t next = 0;
    wire::NextFileRequest::Use use = wire::NextFileRequest::SCRIPT;
    std::deque<ReturnedFile> returned;                   // of lost workers; handed out before `next`
    std::vector<ReturnedFile> handed_on;                 // of those, what others have now
    std::map<uint32_t, std::vector<uint64_t>> assigned;  // by taker, see wire::ExchangeImage
    std::set<uint32_t> finished;                         // takers that have asked for more than there was
    std::map<uint32_t, uint32_t> rounds;                 // by worker: in which it reads the list
    std::map<uint64_t, uint64_t> lines;                  // by place: how many it has, where a reader has said so
  };

  List& make_list(const std::string& name);  // or finds it
  uint32_t taker(const wire::NextFileRequest& request) const;
  static Status check_request(const wire::NextFileRequest& request, const List& list);
  // Whether the worker still needs files that it has asked for: see wire::NextFileRequest.
  bool in_use(const List& list, uint32_t worker) const;
  void return_files(List& list, uint32_t worker) const;
  static void save(const List& list, wire::ExchangeImage::FileList* out);
  static Status restore(const wire::ExchangeImage::FileList& in, List& list);

  const Membership& members_;
  NameCount& name_count_;
  std::map<std::string, List> lists_;
};

}  // namespace argosy::ps
