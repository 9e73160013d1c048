#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

void put(const RowInitializer& init, wire::Initializer* out) {
  out->set_kind(static_cast<wire::Initializer::Kind>(init.kind));
  out->set_a(init.a);
  out->set_b(init.b);
  out->set_seed(init.seed);
}

void put(const Admission& admission, wire::Admission* out) {
  out->set_kind(static_cast<wire::Admission::Kind>(admission.kind));
  out->set_probability(admission.probability);
  out->set_count(admission.count);
  out->set_score(admission.score);
  out->set_seed(admission.seed);
}

void put(const Expiry& expiry, wire::Expiry* out) {
  out->set_score(expiry.score);
  out->set_unseen_steps(expiry.unseen_steps);
  out->set_ttl_seconds(expiry.ttl_seconds);
}

void put(const ShowClick& counters, wire::ShowClick* out) {
  out->set_enabled(counters.enabled);
  out->set_non_click_weight(counters.non_click_weight);
  out->set_click_weight(counters.click_weight);
  out->set_decay(counters.decay);
}

void put(const TableSpec& table, wire::TableSpec* out) {
  out->set_name(table.name);
  out->set_sparse(table.sparse);
  out->set_size(table.size);
  out->set_width(table.width);
  out->set_declared_rows(table.declared_rows);
  put(table.initializer, out->mutable_initializer());
  out->set_rule(table.rule);
  for (const auto& [name, value] : table.hyper_parameters) {
    wire::Number* number = out->add_hyper_parameters();
    number->set_name(name);
    number->set_value(value);
  }
  out->mutable_schedule()->set_kind(table.schedule.kind);
  out->mutable_schedule()->mutable_floats()->Assign(table.schedule.floats.begin(), table.schedule.floats.end());
  out->mutable_schedule()->mutable_ints()->Assign(table.schedule.ints.begin(), table.schedule.ints.end());
  out->set_rate_factor(table.rate_factor);
  if (table.regularization) {
    out->mutable_regularization()->set_l1(table.regularization->kind == optim::Regularization::l1);
    out->mutable_regularization()->set_coeff(table.regularization->coeff);
  }
  out->set_clip_group(table.clip_group);
  if (table.value_clip) {
    out->mutable_value_clip()->set_min(table.value_clip->min);
    out->mutable_value_clip()->set_max(table.value_clip->max);
  }
  put(table.admission, out->mutable_admission());
  put(table.expiry, out->mutable_expiry());
  put(table.show_click, out->mutable_show_click());
  out->set_geo(table.geo);
  out->set_wire_format(static_cast<wire::TableSpec::WireFormat>(table.wire_format));
}

Status unknown(const wire::TableSpec& table, std::string_view field, int value) {
  return Status::invalid_argument("table '{}': {} has the unknown value {}; is the peer of a newer version?", table.name(), field,
                                  value);
}

Result<Admission> admission_from(const wire::TableSpec& table) {
  const wire::Admission& in = table.admission();
  if (!wire::Admission::Kind_IsValid(in.kind())) return unknown(table, "admission.kind", in.kind());
  return Admission{static_cast<Admission::Kind>(in.kind()), in.probability(), in.count(), in.score(), in.seed()};
}

Result<TableSpec> table_from(const wire::TableSpec& in) {
  TableSpec table;
  table.name = in.name();
  table.sparse = in.sparse();
  table.size = in.size();
  table.width = in.width();
  table.declared_rows = in.declared_rows();
  const wire::Initializer& init = in.initializer();
  if (!wire::Initializer::Kind_IsValid(init.kind())) return unknown(in, "initializer.kind", init.kind());
  table.initializer = {static_cast<RowInitializer::Kind>(init.kind()), init.a(), init.b(), init.seed()};
  table.rule = in.rule();
  for (const wire::Number& number : in.hyper_parameters()) table.hyper_parameters[number.name()] = number.value();
  table.schedule.kind = in.schedule().kind();
  table.schedule.floats.assign(in.schedule().floats().begin(), in.schedule().floats().end());
  table.schedule.ints.assign(in.schedule().ints().begin(), in.schedule().ints().end());
  table.rate_factor = in.rate_factor();
  if (in.has_regularization()) {
    const auto kind = in.regularization().l1() ? optim::Regularization::l1 : optim::Regularization::l2;
    table.regularization = {kind, in.regularization().coeff()};
  }
  table.clip_group = in.clip_group();
  if (in.has_value_clip()) table.value_clip = {in.value_clip().min(), in.value_clip().max()};
  ASSIGN_OR_RETURN(table.admission, admission_from(in));
  table.expiry = {in.expiry().score(), in.expiry().unseen_steps(), in.expiry().ttl_seconds()};
  const wire::ShowClick& counters = in.show_click();
  table.show_click = {counters.enabled(), counters.non_click_weight(), counters.click_weight(), counters.decay()};
  table.geo = in.geo();
  if (!wire::TableSpec::WireFormat_IsValid(in.wire_format())) return unknown(in, "wire_format", in.wire_format());
  table.wire_format = static_cast<WireFormat>(in.wire_format());
  return table;
}

}  // namespace

wire::JobSpec to_wire(const JobSpec& spec) {
  wire::JobSpec message;
  message.set_mode(static_cast<wire::Mode>(spec.mode));
  message.set_workers(static_cast<uint32_t>(spec.workers));
  for (const TableSpec& table : spec.tables) put(table, message.add_tables());
  return message;
}

Result<JobSpec> from_wire(const wire::JobSpec& message) {
  JobSpec spec;
  if (!wire::Mode_IsValid(message.mode())) {
    return Status::invalid_argument("mode has the unknown value {}; is the peer of a newer version?",
                                    static_cast<int>(message.mode()));
  }
  spec.mode = static_cast<Mode>(message.mode());
  if (message.workers() > 65536) return Status::invalid_argument("workers is {}; expected 1 to 65536", message.workers());
  spec.workers = static_cast<int>(message.workers());
  for (const wire::TableSpec& in : message.tables()) {
    ASSIGN_OR_RETURN(TableSpec table, table_from(in));
    spec.tables.push_back(std::move(table));
  }
  return spec;
}

wire::Window to_wire(const Window& window) {
  wire::Window message;
  message.set_round(window.round());
  message.set_through(window.through());
  message.mutable_above()->Assign(window.above().begin(), window.above().end());
  return message;
}

Window from_wire(const wire::Window& message) {
  return Window(message.round(), message.through(), {message.above().data(), static_cast<size_t>(message.above_size())});
}

std::string encode_job_spec(const JobSpec& spec) { return to_wire(spec).SerializeAsString(); }

Result<JobSpec> decode_job_spec(std::string_view bytes) {
  wire::JobSpec message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Status::invalid_argument("{} bytes are no job spec", bytes.size());
  return from_wire(message);
}

}  // namespace argosy::ps
