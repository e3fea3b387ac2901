// tools/krohn/models/asked_model.h — MODEL as users name it (a network, a folder of `krohn train`, a checkpoint), ready
// to be asked (simulate/prove/verify.h).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "krohn/automata/language.h"
#include "krohn/simulate/prove/verify.h"

namespace krohn {

struct ModelOptions {
  std::string model, against;
  LanguageOptions reading;
  CertifyOptions how;
  std::uint64_t least_length = 0;  ///< of a trained model: shorter words of its task are not asked about
  std::string device = "auto";     ///< auto, cpu, cuda
  std::string expect = {};         ///< of a trained model: a file of its own forward pass's answers
};

/// A model in memory with what verdicts about it are told in.
class AskedModel {
 public:
  virtual ~AskedModel() = default;
  virtual const Alphabet& alphabet() const = 0;
  /// The network, where it is one.
  virtual const Network* network() const { return nullptr; }
  /// The reader of letters, where the model is no network.
  virtual const ReadModel* reader() const { return nullptr; }
  /// Why no certificate of it can be written; empty where it can.
  virtual std::string without_certificate() const { return {}; }
  /// Subject and language of the question.
  virtual void ask_in(Question& question) const = 0;
  /// The model and the way it is read, a line each, for people; and for programs.
  virtual std::vector<std::string> about(const Question& question) const = 0;
  virtual void about(nlohmann::ordered_json& json) const = 0;
  /// The same of a question that stayed open: measurements that say why, and what may decide it.
  virtual std::vector<std::string> about_open() const { return {}; }
  virtual void about_open(nlohmann::ordered_json&) const {}
};

/// Throws InputError when the file is none, and for options that its kind of model does not have.
std::unique_ptr<AskedModel> load_asked_model(const ModelOptions& options);

/// Trained models and checkpoints are read in the plain arithmetic of a format. Throws InputError for others.
Precision precision_of(const ModelOptions& options);

/// The language of `against`, where there is one.
std::optional<Language> language_against(const ModelOptions& options);

/// The parameters of a run of `krohn train`, and the folder of a checkpoint, in files of their own: the first command
/// has neither.
std::unique_ptr<AskedModel> load_asked_trained_model(const ModelOptions& options);
std::unique_ptr<AskedModel> load_asked_checkpoint(const ModelOptions& options);

}  // namespace krohn
