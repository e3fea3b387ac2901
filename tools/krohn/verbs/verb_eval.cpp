// krohn eval — how often a trained model is right, by length.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/automata/formats/json.h"
#include "krohn/gpu/device/device.h"
#include "krohn/groups/base/error.h"
#include "tools/krohn/models/measured_model.h"
#include "tools/krohn/report/output.h"
#include "tools/krohn/verb.h"

namespace krohn {
namespace {

struct EvalArguments {
  std::vector<std::string> folders;
  MeasureOptions measure;  ///< of each of them
  std::string plot;
  std::vector<std::string> lengths{"10", "100", "500"};
  bool json = false;
};

/// A model's figures by length.
struct Measurement {
  std::string folder, device;
  std::unique_ptr<MeasuredModel> model;
  std::vector<ModelAccuracy> lengths;
  std::string limit;  ///< that kept the other lengths from being measured
};

Measurement measure(const EvalArguments& options, const std::string& folder) {
  MeasureOptions asked = options.measure;
  asked.folder = folder;
  if (asked.words == 0) throw InputError("--words", "at least one");
  Measurement measured{folder, {}, load_measured_model(asked), {}, {}};
  try {
    for (const std::string& text : options.lengths)
      measured.lengths.push_back(measured.model->at(parse_count(text, "--lengths")));
  } catch (const LimitError& error) {
    if (measured.lengths.empty()) throw;
    measured.limit = error.what();
  }
  if (measured.model->on_cuda) measured.device = cuda_status();
  return measured;
}

nlohmann::ordered_json measurement_json(const EvalArguments& options, const Measurement& measured) {
  const MeasuredModel& model = *measured.model;
  nlohmann::ordered_json json{{"model", model.model},
                              {"task", model.task},
                              {"reading", model.reading},
                              {"chance", model.chance},
                              {"seed", options.measure.seed}};
  for (const ModelAccuracy& at : measured.lengths) json["lengths"].push_back(accuracy_json(at, model.chance));
  if (!measured.device.empty()) json["device"] = measured.device;
  if (!measured.limit.empty()) json["limit"] = measured.limit;
  return json;
}

void print_measurement(const Measurement& measured) {
  const MeasuredModel& model = *measured.model;
  std::vector<std::vector<std::string>> rows = {
      {"length", "words", "scaled accuracy", "95 % interval", "whole words right"}};
  for (const ModelAccuracy& at : measured.lengths) {
    const AccuracyPoint point = accuracy_point(at, model.chance);
    rows.push_back({with_thousands(at.length), with_thousands(at.words), fmt::format("{:.4f}", point.value),
                    fmt::format("{:.4f} … {:.4f}", point.low, point.high),
                    fmt::format("{:.4f}", static_cast<double>(at.right_words) / static_cast<double>(at.words))});
  }
  fmt::print("{}: {} on {}, {}{}\n{}", visible(measured.folder), visible(model.model), visible(model.task),
             model.reading, measured.device.empty() ? "" : ", read on " + measured.device, format_table(rows));
  for (const ModelAccuracy& at : measured.lengths)
    if (at.not_finite > 0)
      fmt::print("  at {} letters {} of {} are no answer, as a logit is not finite; they count as wrong\n",
                 with_thousands(at.length), with_thousands(at.not_finite), with_thousands(at.targets));
}

/// The lengths of training are shaded where all runs have the same.
AccuracyPicture picture_of(const std::vector<Measurement>& all) {
  AccuracyPicture picture;
  const auto same = [&all](std::string MeasuredModel::*name) {
    return std::ranges::all_of(all, [&](const Measurement& m) { return *m.model.*name == *all[0].model.*name; });
  };
  const bool is_one_task = same(&MeasuredModel::task), is_one_model = same(&MeasuredModel::model);
  picture.title = fmt::format("{}{}{}", is_one_task ? all[0].model->task : "", is_one_task && is_one_model ? ": " : "",
                              is_one_model ? all[0].model->model : "");
  if (picture.title.empty()) picture.title = "accuracy by length";
  picture.trained = trained_lengths(all[0].folder);
  for (const Measurement& measured : all) {
    const LengthRange trained = trained_lengths(measured.folder);
    if (trained.least != picture.trained.least || trained.greatest != picture.trained.greatest) picture.trained = {};
    AccuracyCurve curve{measured.folder, {}};
    if (!is_one_task) curve.name += ": " + measured.model->task;
    if (!is_one_model) curve.name += ": " + measured.model->model;
    for (const ModelAccuracy& at : measured.lengths) curve.points.push_back(accuracy_point(at, measured.model->chance));
    picture.curves.push_back(std::move(curve));
  }
  return picture;
}

int evaluate(const EvalArguments& options) {
  if (!options.plot.empty()) require_plot_name(options.plot);
  std::vector<Measurement> all;
  for (const std::string& folder : options.folders) {
    if (!options.plot.empty()) trained_lengths(folder);  // refused before the work
    all.push_back(measure(options, folder));
    if (!all.back().limit.empty()) break;
  }
  const std::string& limit = all.back().limit;
  if (!options.plot.empty()) write_plot(accuracy_plot(picture_of(all)), options.plot);
  if (!options.json) {
    for (const Measurement& measured : all) print_measurement(measured);
    if (!limit.empty()) throw LimitError(limit);
    return kDone;
  }
  if (all.size() == 1) {
    print_json(measurement_json(options, all[0]));
    return limit.empty() ? kDone : kUndecided;
  }
  nlohmann::ordered_json json;
  for (const Measurement& measured : all) {
    json["runs"].push_back({{"folder", measured.folder}});
    json["runs"].back().update(measurement_json(options, measured));
  }
  print_json(json);
  return limit.empty() ? kDone : kUndecided;
}

}  // namespace

Work add_eval(Verb& verb) {
  const auto options = std::make_shared<EvalArguments>();
  verb.add_option("FOLDER", options->folders, "Folders that `krohn train` wrote, or checkpoints").required();
  verb.add_list("--lengths", options->lengths, "Lengths to measure at").type_name("N,…");
  MeasureOptions& measure = options->measure;
  add_count(verb, "--words", measure.words, "Samples of every length");
  verb.add_option("--plot", options->plot, "Draw accuracy by length, all folders in one picture")
      .type_name("FILE.svg|.png|.pdf");
  verb.add_flag("--rescaled", measure.rescaled, "Keep the norm of a linear state, as the paper does at inference");
  add_device(verb, measure.device,
             "Where words are read, with the same answers");
  add_seed(verb, measure.seed);
  add_threads(verb, measure.threads);
  add_json_flag(verb, options->json);
  add_language_options(verb, measure.reading);
  return [options] { return evaluate(*options); };
}

}  // namespace krohn
