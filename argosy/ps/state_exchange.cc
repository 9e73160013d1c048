#include "argosy/ps/state_exchange.h"

#include <algorithm>
#include <numeric>

#include "argosy/base/plant.h"

namespace argosy::ps {
namespace {

uint64_t bytes_of(const Exchange::Parts& parts) {
  return std::accumulate(parts.begin(), parts.end(), uint64_t{0},
                         [](uint64_t sum, const auto& part) { return sum + part.size(); });
}

}  // namespace

GatherCall gather_call(const wire::GatherRequest& request) {
  return {.name = request.name(),
          .worker = static_cast<int>(request.caller().worker()),
          .position = request.position(),
          .call = request.call(),
          .after = request.after()};
}

// ---- Gatherings.

std::shared_ptr<Exchange::Gathering> Exchange::make_gathering() const {
  const auto workers = static_cast<size_t>(members_.workers());
  auto gathering = std::make_shared<Gathering>();
  gathering->parts.resize(workers);
  gathering->given.resize(workers);
  gathering->places.resize(workers);
  return gathering;
}

uint64_t Exchange::number_of(const GatherCall& call) const {
  const auto known = names_.find(call.name);
  if (known == names_.end()) return call.after + 1;
  const auto worker = static_cast<size_t>(call.worker);
  const Member& member = known->second.members[worker];
  const ScriptPlace place{call.position, call.call};
  if (place > member.newest) return std::max(member.number, call.after) + 1;
  if (place == member.newest) return member.number;
  for (const auto& [number, gathering] : known->second.gatherings) {
    if (gathering->given[worker] && gathering->places[worker] == place) return number;
  }
  return 0;
}

void Exchange::add_part(const GatherCall& call, std::string bytes) {
  const uint64_t number = number_of(call);
  const auto worker = static_cast<size_t>(call.worker);
  Name& known = names_.try_emplace(call.name, members_.workers()).first->second;
  std::shared_ptr<Gathering>& gathering = known.gatherings[number];
  if (gathering == nullptr) {
    ++open_;
    gathering = make_gathering();
  }
  std::string& part = gathering->parts[worker];
  open_bytes_ += bytes.size() - part.size();
  part = std::move(bytes);
  gathering->given[worker] = true;
  gathering->places[worker] = {call.position, call.call};
  known.members[worker].newest = gathering->places[worker];
  known.members[worker].number = number;
}

std::vector<int> Exchange::missing(const std::string& name, uint64_t number) const {
  std::vector<int> workers;
  const auto known = names_.find(name);
  const auto gathering =
      known == names_.end() ? decltype(known->second.gatherings.end()){} : known->second.gatherings.find(number);
  const bool begun = known != names_.end() && gathering != known->second.gatherings.end();
  for (int worker = 0; worker < members_.workers(); ++worker) {
    const bool given = begun && gathering->second->given[static_cast<size_t>(worker)];
    if (!given && members_.is_awaited(worker) && !(ARGOSY_PLANTED("gather_too_early") && worker > 0)) workers.push_back(worker);
  }
  return workers;
}

void Exchange::settle() {
  for (auto& [name, known] : names_) {
    for (auto gathering = known.gatherings.begin(); gathering != known.gatherings.end();) {
      const uint64_t number = gathering->first;
      if (gathering->second->complete || !missing(name, number).empty()) {
        ++gathering;
        continue;
      }
      gathering->second->complete = true;
      known.complete_through = std::max(known.complete_through, number);
      const uint64_t bytes = bytes_of(gathering->second->parts);
      --open_;
      open_bytes_ -= bytes;
      if (bytes == 0) {
        gathering = known.gatherings.erase(gathering);
        continue;
      }
      kept_.emplace_back(name, number);
      kept_bytes_ += bytes;
      ++gathering;
    }
  }
  drop_old_answers();
}

// The newest answer stays whatever its size: callers still wait for it.
void Exchange::drop_old_answers() {
  while (kept_bytes_ > limits_.gather_bytes && kept_.size() > 1) {
    const auto [name, number] = kept_.front();
    kept_.pop_front();
    Name& known = names_.at(name);
    const auto old = known.gatherings.find(number);
    kept_bytes_ -= bytes_of(old->second->parts);
    for (size_t worker = 0; worker < known.members.size(); ++worker) {
      ScriptPlace& dropped = known.members[worker].dropped;
      if (old->second->given[worker]) dropped = std::max(dropped, old->second->places[worker]);
    }
    known.gatherings.erase(old);
  }
}

Status Exchange::check_room_for_name() const {
  const uint64_t names = names_.size() + lists_.size();
  return limits_.names == nullptr || limits_.names->fits(names, 1) ? Status() : limits_.names->refuse(1);
}

Status Exchange::check_room_for_part(const Name* known, uint64_t number, uint64_t bytes) const {
  if (known == nullptr) RETURN_IF_ERROR(check_room_for_name());
  uint64_t there = 0;
  bool begun = false;
  if (known != nullptr) {
    const auto gathering = known->gatherings.find(number);
    begun = gathering != known->gatherings.end();
    if (begun) there = bytes_of(gathering->second->parts);
  }
  if (!begun && limits_.gatherings != nullptr && !limits_.gatherings->fits(open_, 1)) return limits_.gatherings->refuse(1);
  if (limits_.answer != nullptr && !limits_.answer->fits(there, bytes)) return limits_.answer->refuse(there + bytes);
  if (limits_.gathering_bytes == nullptr || limits_.gathering_bytes->fits(open_bytes_, bytes)) return {};
  return limits_.gathering_bytes->refuse(bytes);
}

Result<bool> Exchange::needs_part(const GatherCall& call, uint64_t bytes) const {
  const auto known = names_.find(call.name);
  const Name* name = known == names_.end() ? nullptr : &known->second;
  const uint64_t number = number_of(call);
  const auto worker = static_cast<size_t>(call.worker);
  if (number == 0 && ScriptPlace{call.position, call.call} <= name->members[worker].dropped) {
    return Status::out_of_range(
        "the answer of all_gather '{}' number {} at batch {} is no longer kept (worker {} asks for it again); kept answers may "
        "take {} bytes",
        call.name, call.call, call.position, call.worker, limits_.gather_bytes);
  }
  if (number == 0) return false;
  bool needed = name == nullptr || number > name->complete_through;
  if (name != nullptr) {
    const auto gathering = name->gatherings.find(number);
    if (gathering != name->gatherings.end()) needed = !gathering->second->complete && !gathering->second->given[worker];
  }
  if (needed) RETURN_IF_ERROR(check_room_for_part(name, number, bytes));
  return needed;
}

std::shared_ptr<const Exchange::Parts> Exchange::parts(const std::string& name, uint64_t number) const {
  const auto known = names_.find(name);
  if (known == names_.end()) return nullptr;
  const auto gathering = known->second.gatherings.find(number);  // numbers count from 1; 0 is none of them
  if (gathering != known->second.gatherings.end()) {
    if (!gathering->second->complete) return nullptr;
    return {gathering->second, &gathering->second->parts};
  }
  if (number > known->second.complete_through) return nullptr;
  return std::make_shared<const Parts>(static_cast<size_t>(members_.workers()));
}

// ---- Files.

uint32_t Exchange::taker(const wire::NextFileRequest& request) const {
  return request.reader() * static_cast<uint32_t>(members_.workers()) + request.caller().worker();
}

Result<Exchange::File> Exchange::file(const wire::NextFileRequest& request) const {
  constexpr uint32_t kMostReaders = 1024;
  const uint32_t worker = request.caller().worker();
  if (request.reader() >= kMostReaders) {
    return Status::invalid_argument("file list '{}': reader {} of worker {} asks for a file; there are {} at most",
                                    request.list(), request.reader(), worker, kMostReaders);
  }
  static const FileList nothing;
  const auto list = lists_.find(request.list());
  if (list == lists_.end()) RETURN_IF_ERROR(check_room_for_name());
  const FileList& known = list == lists_.end() ? nothing : list->second;
  const uint64_t files = known.files == 0 ? request.files() : known.files;
  if (request.files() != files) {
    return Status::invalid_argument(
        "file list '{}' has {} files for worker {} and {} for another worker; every worker needs the same list", request.list(),
        request.files(), worker, files);
  }
  const auto assigned = known.assigned.find(taker(request));
  const size_t mine = assigned == known.assigned.end() ? 0 : assigned->second.size();
  if (request.number() == 0 || request.number() > mine + 1) {
    return Status::invalid_argument("file list '{}': worker {} asks for its file number {}; expected 1 to {}", request.list(),
                                    worker, request.number(), mine + 1);
  }
  if (request.number() <= mine) return File{File::assigned, assigned->second[request.number() - 1]};
  return File{known.next < files || !known.returned.empty() ? File::unassigned : File::done, 0};
}

void Exchange::hand_out(const wire::NextFileRequest& request) {
  FileList& known = lists_[request.list()];
  known.files = request.files();
  uint64_t place = 0;
  if (known.returned.empty()) {
    place = ARGOSY_PLANTED_EVERY("file_to_two_readers", 3) ? known.next : known.next++;
  } else {
    place = known.returned.front().place;
    known.returned.pop_front();
  }
  known.assigned[taker(request)].push_back(place);
}

void Exchange::lose(int worker) {
  const auto by = static_cast<uint32_t>(worker), workers = static_cast<uint32_t>(members_.workers());
  for (auto& [name, list] : lists_) {
    for (const auto& [taker, places] : list.assigned) {
      if (taker % workers == by && !places.empty()) list.returned.push_back({places.back(), by});
    }
  }
}

void Exchange::rejoin(int worker) {
  for (auto& [name, list] : lists_)
    std::erase_if(list.returned, [&](const ReturnedFile& file) { return file.by == static_cast<uint32_t>(worker); });
}

// ---- Letters.

Result<bool> Exchange::needs_letter(int from, int to, uint64_t number, uint64_t bytes) const {
  uint64_t posted = 0;
  if (const auto box = boxes_.find(to); box != boxes_.end()) {
    if (const auto count = box->second.posted.find(from); count != box->second.posted.end()) posted = count->second;
  }
  if (number < posted) return false;
  if (number == posted) {
    if (limits_.unread_mail == nullptr || limits_.unread_mail->fits(unread_bytes_, bytes)) return true;
    limits_.unread_mail->set_now(unread_bytes_);
    return limits_.unread_mail->refuse(bytes).with_context("letter {} of worker {} to worker {}", number, from, to);
  }
  return Status::invalid_argument("worker {} posts letter {} to worker {} before letter {}", from, number, to, posted);
}

void Exchange::post(int from, int to, std::string bytes) {
  Box& box = boxes_[to];
  ++box.posted[from];
  mail_bytes_ += bytes.size();
  unread_bytes_ += bytes.size();
  box.letters.push_back({static_cast<uint32_t>(from), std::make_shared<const std::string>(std::move(bytes))});
  drop_arrived_letters();
}

Result<Exchange::Letter> Exchange::letter(int to, uint64_t number) {
  Box& box = boxes_[to];
  if (number < box.first) {
    return Status::out_of_range(
        "letter {} to worker {} is no longer kept: an earlier start of this worker took it, and letters may "
        "take {} bytes; start the whole job again or raise the mailbox limit",
        number, to, limits_.mail_bytes);
  }
  for (; box.arrived < number; ++box.arrived) {
    if (box.arrived < box.first) continue;
    if (box.arrived - box.first >= box.letters.size()) break;
    unread_bytes_ -= box.letters[box.arrived - box.first].bytes->size();
  }
  if (mail_bytes_ > limits_.mail_bytes) drop_arrived_letters();
  if (number - box.first >= box.letters.size()) return Letter{};
  return box.letters[number - box.first];
}

void Exchange::drop_arrived_letters() {
  for (auto& [to, box] : boxes_) {
    while (mail_bytes_ > limits_.mail_bytes && box.first < box.arrived && !box.letters.empty()) {
      mail_bytes_ -= box.letters.front().bytes->size();
      box.letters.pop_front();
      ++box.first;
    }
  }
}

void Exchange::measure() const {
  const auto set = [](Limit* limit, uint64_t now) {
    if (limit != nullptr) limit->set_now(now);
  };
  set(limits_.unread_mail, unread_bytes_);
  set(limits_.gatherings, open_);
  set(limits_.gathering_bytes, open_bytes_);
  set(limits_.names, names_.size() + lists_.size());
}

// ---- Snapshots.

void Exchange::save_name(const Name& known, wire::ExchangeImage::Name* out) {
  out->set_complete_through(known.complete_through);
  for (const auto& [number, gathering] : known.gatherings) {
    wire::ExchangeImage::Gathering* one = out->add_gatherings();
    one->set_number(number);
    one->set_complete(gathering->complete);
    for (const std::string& part : gathering->parts) one->add_parts(part);
    for (const bool given : gathering->given) one->add_given(given);
    for (const ScriptPlace& place : gathering->places) {
      one->add_positions(place.position);
      one->add_calls(place.call);
    }
  }
  for (const Member& member : known.members) {
    wire::ExchangeImage::Member* one = out->add_members();
    one->set_position(member.newest.position);
    one->set_call(member.newest.call);
    one->set_number(member.number);
    one->set_dropped_position(member.dropped.position);
    one->set_dropped_call(member.dropped.call);
  }
}

void Exchange::save(wire::ExchangeImage* image) const {
  for (const auto& [name, known] : names_) {
    wire::ExchangeImage::Name* out = image->add_names();
    out->set_name(name);
    save_name(known, out);
  }
  for (const auto& [name, list] : lists_) {
    wire::ExchangeImage::FileList* out = image->add_lists();
    out->set_name(name);
    out->set_files(list.files);
    out->set_next(list.next);
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
  }
  for (const auto& [to, box] : boxes_) {
    wire::ExchangeImage::Box* out = image->add_boxes();
    out->set_to(static_cast<uint32_t>(to));
    out->set_first(box.first);
    for (const auto& [from, count] : box.posted) {
      out->add_senders(static_cast<uint32_t>(from));
      out->add_posted(count);
    }
  }
}

std::vector<StateCut::Letter> Exchange::letters() const {
  std::vector<StateCut::Letter> letters;
  for (const auto& [to, box] : boxes_) {
    for (const Letter& letter : box.letters) letters.push_back({static_cast<uint32_t>(to), letter.from, letter.bytes});
  }
  return letters;
}

Status Exchange::restore_name(const wire::ExchangeImage::Name& in) {
  const int workers = members_.workers();
  if (in.members_size() != workers) {
    return Status::data_loss("gatherings '{}' are of {} workers; the job has {}", in.name(), in.members_size(), workers);
  }
  Name& known = names_.try_emplace(in.name(), workers).first->second;
  known.complete_through = in.complete_through();
  for (int worker = 0; worker < workers; ++worker) {
    const auto& member = in.members(worker);
    known.members[static_cast<size_t>(worker)] = {
        {member.position(), member.call()}, member.number(), {member.dropped_position(), member.dropped_call()}};
  }
  for (const auto& one : in.gatherings()) {
    if (one.parts_size() != workers || one.given_size() != workers || one.positions_size() != workers ||
        one.calls_size() != workers) {
      return Status::data_loss("gathering '{}' number {} has {} parts; the job has {} workers", in.name(), one.number(),
                               one.parts_size(), workers);
    }
    auto gathering = make_gathering();
    gathering->parts.assign(one.parts().begin(), one.parts().end());
    gathering->given.assign(one.given().begin(), one.given().end());
    for (int worker = 0; worker < workers; ++worker)
      gathering->places[static_cast<size_t>(worker)] = {one.positions(worker), one.calls(worker)};
    gathering->complete = one.complete();
    const uint64_t bytes = bytes_of(gathering->parts);
    if (one.complete()) {
      kept_.emplace_back(in.name(), one.number());
      kept_bytes_ += bytes;
    } else {
      ++open_;
      open_bytes_ += bytes;
    }
    known.gatherings[one.number()] = std::move(gathering);
  }
  return {};
}

// A box may come in several pieces, the last of which has everything but letters.
Status Exchange::restore(const wire::ExchangeImage& image) {
  names_.clear();
  kept_.clear();
  lists_.clear();
  boxes_.clear();
  kept_bytes_ = mail_bytes_ = unread_bytes_ = open_ = open_bytes_ = 0;
  for (const auto& in : image.names()) RETURN_IF_ERROR(restore_name(in));
  for (const auto& in : image.lists()) {
    if (in.takers_size() != in.places_size() || in.returned_size() != in.returned_by_size())
      return Status::data_loss("file list '{}' is damaged", in.name());
    FileList& list = lists_[in.name()];
    list.files = in.files();
    list.next = in.next();
    for (int i = 0; i < in.takers_size(); ++i) list.assigned[in.takers(i)].push_back(in.places(i));
    for (int i = 0; i < in.returned_size(); ++i) list.returned.push_back({in.returned(i), in.returned_by(i)});
  }
  for (const auto& in : image.boxes()) {
    if (in.from_size() != in.letters_size() || in.senders_size() != in.posted_size()) {
      return Status::data_loss("the letters to worker {} are damaged", in.to());
    }
    Box& box = boxes_[static_cast<int>(in.to())];
    box.first = in.first();
    for (int i = 0; i < in.from_size(); ++i) {
      mail_bytes_ += in.letters(i).size();
      unread_bytes_ += in.letters(i).size();
      box.letters.push_back({in.from(i), std::make_shared<const std::string>(in.letters(i))});
    }
    for (int i = 0; i < in.senders_size(); ++i) box.posted[static_cast<int>(in.senders(i))] = in.posted(i);
  }
  return {};
}

}  // namespace argosy::ps
