#include "argosy/ps/state/gatherings.h"

#include <algorithm>
#include <numeric>

#include "argosy/base/plant.h"

namespace argosy::ps {
namespace {

uint64_t bytes_of(const Gatherings::Parts& parts) {
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

Gatherings::Gathering::Gathering(int workers)
    : parts(static_cast<size_t>(workers)), given(static_cast<size_t>(workers)), places(static_cast<size_t>(workers)) {}

Gatherings::Name& Gatherings::make_name(const std::string& name) {
  const auto [known, is_new] = names_.try_emplace(name, members_.workers());
  if (is_new) name_count_.add();
  return known->second;
}

const Gatherings::Name* Gatherings::find_name(const std::string& name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? nullptr : &known->second;
}

const Gatherings::Gathering* Gatherings::find(const Name* known, uint64_t number) {
  if (known == nullptr) return nullptr;
  const auto gathering = known->gatherings.find(number);  // numbers count from 1; 0 is none of them
  return gathering == known->gatherings.end() ? nullptr : gathering->second.get();
}

// ---- Records.

void Gatherings::add_part(const GatherCall& call, std::string bytes) {
  const uint64_t number = number_of(call);
  const auto worker = static_cast<size_t>(call.worker);
  Name& known = make_name(call.name);
  std::shared_ptr<Gathering>& gathering = known.gatherings[number];
  if (gathering == nullptr) {
    ++open_;
    gathering = std::make_shared<Gathering>(members_.workers());
  }
  std::string& part = gathering->parts[worker];
  open_bytes_ += bytes.size() - part.size();
  part = std::move(bytes);
  gathering->given[worker] = true;
  gathering->places[worker] = {call.position, call.call};
  known.members[worker].newest = gathering->places[worker];
  known.members[worker].number = number;
}

void Gatherings::settle() {
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
void Gatherings::drop_old_answers() {
  while (kept_bytes_ > limits_.kept_bytes && kept_.size() > 1) {
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

// ---- Questions.

uint64_t Gatherings::number_of(const GatherCall& call) const {
  const Name* known = find_name(call.name);
  if (known == nullptr) return call.after + 1;
  const auto worker = static_cast<size_t>(call.worker);
  const Member& member = known->members[worker];
  const ScriptPlace place{call.position, call.call};
  if (place > member.newest) return std::max(member.number, call.after) + 1;
  if (place == member.newest) return member.number;
  for (const auto& [number, gathering] : known->gatherings) {
    if (gathering->given[worker] && gathering->places[worker] == place) return number;
  }
  return 0;
}

std::vector<int> Gatherings::missing(const std::string& name, uint64_t number) const {
  std::vector<int> workers;
  const Gathering* gathering = find(find_name(name), number);
  for (int worker = 0; worker < members_.workers(); ++worker) {
    const bool given = gathering != nullptr && gathering->given[static_cast<size_t>(worker)];
    if (!given && members_.is_awaited(worker) && !(ARGOSY_PLANTED("gather_too_early") && worker > 0)) workers.push_back(worker);
  }
  return workers;
}

Status Gatherings::check_room(const Name* known, uint64_t number, uint64_t bytes) const {
  if (known == nullptr) RETURN_IF_ERROR(name_count_.check_room());
  const Gathering* gathering = find(known, number);
  const uint64_t there = gathering == nullptr ? 0 : bytes_of(gathering->parts);
  if (gathering == nullptr && limits_.open != nullptr && !limits_.open->fits(open_, 1)) return limits_.open->refuse(1);
  if (limits_.answer != nullptr && !limits_.answer->fits(there, bytes)) return limits_.answer->refuse(there + bytes);
  if (limits_.open_bytes == nullptr || limits_.open_bytes->fits(open_bytes_, bytes)) return {};
  return limits_.open_bytes->refuse(bytes);
}

Result<bool> Gatherings::needs_part(const GatherCall& call, uint64_t bytes) const {
  const Name* known = find_name(call.name);
  const uint64_t number = number_of(call);
  const auto worker = static_cast<size_t>(call.worker);
  if (number == 0 && ScriptPlace{call.position, call.call} <= known->members[worker].dropped) {
    return Status::out_of_range(
        "the answer of all_gather '{}' number {} at batch {} is no longer kept (worker {} asks for it again); kept answers may "
        "take {} bytes",
        call.name, call.call, call.position, call.worker, limits_.kept_bytes);
  }
  if (number == 0) return false;
  const Gathering* gathering = find(known, number);
  const bool needed = gathering == nullptr ? known == nullptr || number > known->complete_through
                                           : !gathering->complete && !gathering->given[worker];
  if (needed) RETURN_IF_ERROR(check_room(known, number, bytes));
  return needed;
}

std::shared_ptr<const Gatherings::Parts> Gatherings::parts(const std::string& name, uint64_t number) const {
  const Name* known = find_name(name);
  if (known == nullptr) return nullptr;
  const auto gathering = known->gatherings.find(number);
  if (gathering != known->gatherings.end()) {
    if (!gathering->second->complete) return nullptr;
    return {gathering->second, &gathering->second->parts};
  }
  if (number > known->complete_through) return nullptr;
  return std::make_shared<const Parts>(static_cast<size_t>(members_.workers()));
}

void Gatherings::measure() const {
  if (limits_.open != nullptr) limits_.open->set_now(open_);
  if (limits_.open_bytes != nullptr) limits_.open_bytes->set_now(open_bytes_);
}

// ---- The state's image.

void Gatherings::save(wire::ExchangeImage* image) const {
  for (const auto& [name, known] : names_) {
    wire::ExchangeImage::Name* out = image->add_names();
    out->set_name(name);
    save(known, out);
  }
}

void Gatherings::save(const Name& known, wire::ExchangeImage::Name* out) {
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

Status Gatherings::restore(const wire::ExchangeImage& image) {
  name_count_.remove(names_.size());
  names_.clear();
  kept_.clear();
  kept_bytes_ = open_ = open_bytes_ = 0;
  for (const auto& in : image.names()) RETURN_IF_ERROR(restore(in));
  return {};
}

Status Gatherings::restore(const wire::ExchangeImage::Name& in) {
  const int workers = members_.workers();
  if (in.members_size() != workers) {
    return Status::data_loss("gatherings '{}' are of {} workers; the job has {}", in.name(), in.members_size(), workers);
  }
  Name& known = make_name(in.name());
  known.complete_through = in.complete_through();
  for (int worker = 0; worker < workers; ++worker) {
    const auto& member = in.members(worker);
    known.members[static_cast<size_t>(worker)] = {
        {member.position(), member.call()}, member.number(), {member.dropped_position(), member.dropped_call()}};
  }
  for (const auto& one : in.gatherings()) RETURN_IF_ERROR(restore(one, in.name(), known));
  return {};
}

Status Gatherings::restore(const wire::ExchangeImage::Gathering& in, const std::string& name, Name& known) {
  const int workers = members_.workers();
  if (in.parts_size() != workers || in.given_size() != workers || in.positions_size() != workers || in.calls_size() != workers) {
    return Status::data_loss("gathering '{}' number {} has {} parts, {} marks and {} places; the job has {} workers", name,
                             in.number(), in.parts_size(), in.given_size(), std::min(in.positions_size(), in.calls_size()),
                             workers);
  }
  auto gathering = std::make_shared<Gathering>(workers);
  gathering->parts.assign(in.parts().begin(), in.parts().end());
  gathering->given.assign(in.given().begin(), in.given().end());
  for (int worker = 0; worker < workers; ++worker)
    gathering->places[static_cast<size_t>(worker)] = {in.positions(worker), in.calls(worker)};
  gathering->complete = in.complete();
  const uint64_t bytes = bytes_of(gathering->parts);
  if (in.complete()) {
    kept_.emplace_back(name, in.number());
    kept_bytes_ += bytes;
  } else {
    ++open_;
    open_bytes_ += bytes;
  }
  known.gatherings[in.number()] = std::move(gathering);
  return {};
}

}  // namespace argosy::ps
