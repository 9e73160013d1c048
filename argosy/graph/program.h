#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/var_desc.h"

namespace argosy::graph {

class Program;

// Variables by name and operators in order. A variable's address is stable for the life of the block; a name that is not
// found here is looked up in the parent block. Thread-compatible, as is Program: build in one thread, then only read.
class Block {
 public:
  Block(Program& program, int index, int parent) : program_(program), index_(index), parent_(parent) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  int index() const { return index_; }
  int parent_index() const { return parent_; }
  Program& program() const { return program_; }

  VarDesc* find_var(std::string_view name) const;            // this block only
  VarDesc* find_var_recursive(std::string_view name) const;  // and its ancestors
  // Adds `variable`, or takes its description where the name is there already.
  VarDesc& put_var(VarDesc variable);
  void remove_var(std::string_view name);
  std::vector<VarDesc*> vars() const;  // in the order in which they were added

  const std::vector<std::unique_ptr<OpDesc>>& ops() const { return ops_; }
  // Checks `op` against its schema, runs the shape rule on its outputs (which must exist) and adds it at the end, or at `at`.
  Result<OpDesc*> append_op(OpDesc op);
  Result<OpDesc*> insert_op(size_t at, OpDesc op);
  // Adds `op` as it is: for programs that come from a file or go to one.
  OpDesc& append_op_unchecked(OpDesc op);
  OpDesc& insert_op_unchecked(size_t at, OpDesc op);
  void remove_op(size_t at);

 private:
  friend class Program;
  Result<std::unique_ptr<OpDesc>> prepare(OpDesc op);
  OpDesc& insert(size_t at, std::unique_ptr<OpDesc> op);

  Program& program_;
  const int index_, parent_;
  std::map<std::string, std::unique_ptr<VarDesc>, std::less<>> vars_;
  std::vector<VarDesc*> order_;
  std::vector<std::unique_ptr<OpDesc>> ops_;
};

// What to compute: blocks of variables and operators. The first block is the global one. Always owned by a shared_ptr,
// because variables (see variable.h) keep their program alive.
class Program : public std::enable_shared_from_this<Program> {
 public:
  static std::shared_ptr<Program> create();

  Block& global_block() const { return *blocks_[0]; }
  Block& block(size_t index) const { return *blocks_[index]; }
  size_t block_count() const { return blocks_.size(); }
  Block& current_block() const { return *blocks_[current_]; }
  Block& create_block(int parent);  // and makes it current
  void rollback();                  // the parent of the current block becomes current

  // Grows with every change that a run depends on; executors prepare a program again when it has moved.
  uint64_t version() const { return version_; }
  void touch() { ++version_; }
  uint64_t id() const { return id_; }  // unique in this process

  int32_t random_seed = 0;  // 0: random ops draw from the process's generator
  // The Paddle whose operators the program has, 1.8.5 as 1008005; a program from a file keeps what the file says.
  int64_t paddle_version = 1008005;

  // Another program with equal content. `for_test` leaves out what only training needs (backward and optimizer operators, and
  // those that send to parameter servers) and turns dropout and batch_norm to their test form.
  std::shared_ptr<Program> clone(bool for_test) const;

  // Only what computes `targets` from `feeds` in the global block: the operators in between and their variables.
  // An unknown name is an error that names it.
  Result<std::shared_ptr<Program>> prune(const std::vector<std::string>& feeds, const std::vector<std::string>& targets) const;

  std::vector<VarDesc*> parameters() const;   // of all blocks
  std::vector<VarDesc*> persistables() const;  // variables that outlive a run, parameters among them; feed and fetch holders not

  std::string to_string() const;  // for people; see print.h

 private:
  Program();

  std::vector<std::unique_ptr<Block>> blocks_;
  size_t current_ = 0;
  uint64_t version_ = 1;
  const uint64_t id_;
};

// The current value of op_role: new operators carry it (see RoleGuard in build.h).
int32_t current_op_role();

}  // namespace argosy::graph
