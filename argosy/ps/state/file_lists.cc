#include "argosy/ps/state/file_lists.h"

#include <algorithm>

#include "argosy/base/plant.h"

namespace argosy::ps {

FileLists::List& FileLists::make_list(const std::string& name) {
  const auto [list, is_new] = lists_.try_emplace(name);
  if (is_new) name_count_.add();
  return list->second;
}

uint32_t FileLists::taker(const wire::NextFileRequest& request) const {
  return request.reader() * static_cast<uint32_t>(members_.workers()) + request.caller().worker();
}

// ---- Records.

void FileLists::hand_out(const wire::NextFileRequest& request) {
  List& list = make_list(request.list());
  list.files = request.files();
  list.use = request.use();
  list.rounds[request.caller().worker()] = request.round();
  std::vector<uint64_t>& mine = list.assigned[taker(request)];
  if (request.lines() > 0 && !mine.empty()) list.lines[mine.back()] = request.lines();
  list.finished.erase(taker(request));
  if (!list.returned.empty()) {
    list.handed_on.push_back(list.returned.front());
    mine.push_back(list.returned.front().place);
    list.returned.pop_front();
  } else if (list.next < list.files) {
    mine.push_back(ARGOSY_PLANTED_EVERY("file_to_two_readers", 3) ? list.next : list.next++);
  } else {
    list.finished.insert(taker(request));
  }
}

// Which files depends on records of this class and of the members alone, never on pushes, whose order among them a replay may
// change.
void FileLists::lose(int worker) {
  const auto by = static_cast<uint32_t>(worker);
  for (auto& [name, list] : lists_) {
    if (in_use(list, by)) return_files(list, by);
  }
}

void FileLists::return_files(List& list, uint32_t worker) const {
  const auto is_returned = [&](uint64_t place) {
    const auto same = [&](const ReturnedFile& file) { return file.place == place && file.by == worker; };
    return std::ranges::any_of(list.handed_on, same) || std::ranges::any_of(list.returned, same);
  };
  for (const auto& [taker, places] : list.assigned) {
    if (taker % static_cast<uint32_t>(members_.workers()) != worker || places.empty()) continue;
    const size_t first = list.use == wire::NextFileRequest::SCRIPT ? places.size() - 1 : 0;
    for (size_t i = first; i < places.size(); ++i) {
      if (!is_returned(places[i])) list.returned.push_back({places[i], worker});
    }
  }
}

void FileLists::rejoin(int worker) {
  for (auto& [name, list] : lists_)
    std::erase_if(list.returned, [&](const ReturnedFile& file) { return file.by == static_cast<uint32_t>(worker); });
}

// ---- Questions.

bool FileLists::in_use(const List& list, uint32_t worker) const {
  const auto round = list.rounds.find(worker);
  if (round == list.rounds.end()) return false;
  if (list.use == wire::NextFileRequest::SCRIPT) return true;
  if (list.use == wire::NextFileRequest::PASS) return round->second == members_.worker(static_cast<int>(worker)).window.round();
  const auto workers = static_cast<uint32_t>(members_.workers());
  return std::ranges::any_of(list.assigned, [&](const auto& entry) {
    return entry.first % workers == worker && !entry.second.empty() && !list.finished.contains(entry.first);
  });
}

Status FileLists::check_request(const wire::NextFileRequest& request, const List& list) {
  const uint32_t worker = request.caller().worker();
  if (list.files != 0 && request.files() != list.files) {
    return Status::invalid_argument(
        "file list '{}' has {} files for worker {} and {} for another worker; every worker needs the same list", request.list(),
        request.files(), worker, list.files);
  }
  const auto handed_on = std::ranges::find(list.handed_on, worker, &ReturnedFile::by);
  if (handed_on == list.handed_on.end()) return {};
  return Status::failed_precondition(
      "file list '{}': worker {} was lost, and file {} of it has been handed to another worker; this worker cannot go on with "
      "the list. The job goes on without it (on_worker_loss=shrink)",
      request.list(), worker, handed_on->place);
}

Result<FileLists::File> FileLists::file(const wire::NextFileRequest& request) const {
  constexpr uint32_t kMostReaders = 1024;
  const uint32_t worker = request.caller().worker();
  if (request.reader() >= kMostReaders) {
    return Status::invalid_argument("file list '{}': reader {} of worker {} asks for a file; there are {} at most",
                                    request.list(), request.reader(), worker, kMostReaders);
  }
  static const List nothing;
  const auto found = lists_.find(request.list());
  if (found == lists_.end()) RETURN_IF_ERROR(name_count_.check_room());
  const List& list = found == lists_.end() ? nothing : found->second;
  RETURN_IF_ERROR(check_request(request, list));
  const auto assigned = list.assigned.find(taker(request));
  const size_t mine = assigned == list.assigned.end() ? 0 : assigned->second.size();
  if (request.number() == 0 || request.number() > mine + 1) {
    return Status::invalid_argument("file list '{}': worker {} asks for its file number {}; expected 1 to {}", request.list(),
                                    worker, request.number(), mine + 1);
  }
  if (request.number() <= mine) return File{File::assigned, assigned->second[request.number() - 1]};
  if (list.next < request.files() || !list.returned.empty()) return File{File::unassigned, 0, true};
  return File{File::done, 0, !list.finished.contains(taker(request))};
}

wire::NextFileReply FileLists::answer(const wire::NextFileRequest& request, const File& file) const {
  wire::NextFileReply reply;
  reply.set_done(file.kind == File::done);
  if (reply.done()) return reply;
  const List& list = lists_.find(request.list())->second;
  reply.set_file(file.place);
  for (const ReturnedFile& handed : list.handed_on) {
    if (handed.place == file.place) reply.add_lost(handed.by);
  }
  if (const auto lines = list.lines.find(file.place); lines != list.lines.end()) reply.set_lines(lines->second);
  return reply;
}

void FileLists::describe(wire::WorkerLedger& ledger) const {
  uint32_t handed_on = 0, left = 0, twice = 0;
  for (const auto& [name, list] : lists_) {
    const bool script = list.use == wire::NextFileRequest::SCRIPT;
    if (!in_use(list, ledger.worker())) continue;
    const auto of_worker = [&](const auto& files) {
      return static_cast<uint32_t>(std::ranges::count(files, ledger.worker(), &ReturnedFile::by));
    };
    (script ? twice : handed_on) += of_worker(list.handed_on);
    left += of_worker(list.returned);
  }
  ledger.set_files_handed_on(handed_on);
  ledger.set_files_left(left);
  ledger.set_files_twice(twice);
}

// ---- The state's image.

void FileLists::save(wire::ExchangeImage* image) const {
  for (const auto& [name, list] : lists_) {
    wire::ExchangeImage::FileList* out = image->add_lists();
    out->set_name(name);
    save(list, out);
  }
}

void FileLists::save(const List& list, wire::ExchangeImage::FileList* out) {
  out->set_files(list.files);
  out->set_next(list.next);
  out->set_use(list.use);
  for (const auto& [taker, places] : list.assigned) {
    for (const uint64_t place : places) {
      out->add_takers(taker);
      out->add_places(place);
    }
  }
  for (const ReturnedFile& file : list.returned) {
    out->add_returned(file.place);
    out->add_returned_by(file.by);
  }
  for (const ReturnedFile& file : list.handed_on) {
    out->add_handed_on(file.place);
    out->add_handed_on_by(file.by);
  }
  out->mutable_finished()->Add(list.finished.begin(), list.finished.end());
  out->mutable_rounds()->insert(list.rounds.begin(), list.rounds.end());
  out->mutable_lines()->insert(list.lines.begin(), list.lines.end());
}

Status FileLists::restore(const wire::ExchangeImage& image) {
  name_count_.remove(lists_.size());
  lists_.clear();
  for (const auto& in : image.lists()) RETURN_IF_ERROR(restore(in, make_list(in.name())));
  return {};
}

Status FileLists::restore(const wire::ExchangeImage::FileList& in, List& list) {
  if (in.takers_size() != in.places_size() || in.returned_size() != in.returned_by_size() ||
      in.handed_on_size() != in.handed_on_by_size()) {
    return Status::data_loss(
        "file list '{}' is damaged: {} files with {} takers, {} returned by {} workers, {} handed on of {} workers; expected as "
        "many of each",
        in.name(), in.places_size(), in.takers_size(), in.returned_size(), in.returned_by_size(), in.handed_on_size(),
        in.handed_on_by_size());
  }
  list.files = in.files();
  list.next = in.next();
  list.use = in.use();
  for (int i = 0; i < in.takers_size(); ++i) list.assigned[in.takers(i)].push_back(in.places(i));
  for (int i = 0; i < in.returned_size(); ++i) list.returned.push_back({in.returned(i), in.returned_by(i)});
  for (int i = 0; i < in.handed_on_size(); ++i) list.handed_on.push_back({in.handed_on(i), in.handed_on_by(i)});
  list.finished.insert(in.finished().begin(), in.finished().end());
  list.rounds.insert(in.rounds().begin(), in.rounds().end());
  list.lines.insert(in.lines().begin(), in.lines().end());
  return {};
}

}  // namespace argosy::ps
