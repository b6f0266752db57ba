// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of the running verbs: adding them, choosing one, and turning
// what it throws into a message and an exit code.
#include "frontend/Nearest.h"
#include "tools/verbs/Common.h"

#include <cstdio>
#include <iostream>
#include <new>

namespace fovea::verbs {

CLI::App *addVerb(CLI::App &app, const char *name, const char *summary, const char *examples,
                  std::shared_ptr<Common> common, const Host &host, int &code,
                  std::function<void()> body) {
  CLI::App *verb = app.add_subcommand(name, summary);
  std::string footer = examples;
  for (size_t at = 0; (at = footer.find("PROGRAM", at)) != std::string::npos;)
    footer.replace(at, 7, host.program);
  verb->footer(footer);
  common->host = &host;
  common->addTo(*verb);
  if (host.addOptions)
    host.addOptions(*verb);
  verb->callback([&host, &code, name, common, body = std::move(body)] {
    auto inWords = [&](const std::string &message) { return common->inWordsOfUser(message); };
    runBody(host, name, code, inWords, body);
  });
  return verb;
}

void runBody(const Host &host, const std::string &verb, int &code,
             const std::function<std::string(std::string)> &inWords,
             const std::function<void()> &body) {
  auto say = [&](const std::string &message) {
    std::cout.flush();
    std::cerr << host.program << ": error: " << plain(message) << "\n";
  };
  try {
    body();
    flush();
    code = 0;
  } catch (const Ended &ended) {
    code = ended.code;
  } catch (const Failure &failure) {
    code = failure.code;
    say(inWords(failure.message));
    if (!failure.hint.empty())
      std::cerr << plain(failure.hint) << "\n";
    if (code == 2)
      std::cerr << "see " << host.program << " " << verb << " --help\n";
    if (code == 70)
      std::cerr << "This is a fault of Fovea, not of your input; please report it.\n";
  } catch (const std::bad_alloc &) {
    code = 1;
    say("out of memory");
  } catch (const std::exception &error) {
    code = 70;
    say(error.what());
  }
}

void addRunningVerbs(CLI::App &app, const Host &host, int &code) {
  addRun(app, host, code);
  addGenerate(app, host, code);
  addChat(app, host, code);
  addEmbed(app, host, code);
  addTranslate(app, host, code);
  addTranscribe(app, host, code);
  addFillMask(app, host, code);
  addClassify(app, host, code);
  addTag(app, host, code);
  addAnswer(app, host, code);
  addBench(app, host, code);
}

std::vector<std::string> listVerbs(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *verb : app.get_subcommands(nullptr))
    names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> listNames(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

/// "compile, check, ...".
static std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// What is wrong with words that no option took: CLI11 lists them, the last first.
static std::string describeUnknown(const CLI::App &verb) {
  std::vector<std::string> options, words = verb.remaining();
  for (const CLI::Option *option : verb.get_options())
    for (const std::string &name : listNames(*option))
      options.push_back(name);
  for (const std::string &word : words)
    if (word.size() > 1 && word[0] == '-') {
      std::string name = word.substr(0, word.find('='));
      return "unknown option '" + plain(name) + "'" + didYouMean(name, options);
    }
  return words.empty() ? "" : "expects no more words, got '" + plain(words.front()) + "'";
}

/// `help`, `help VERB`: as --help.
static std::vector<std::string> readWords(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

int parseAndRun(CLI::App &app, int argc, char **argv, const Host &host, int &code) {
  std::vector<std::string> words = readWords(argc, argv);
  const CLI::App *verb = nullptr;
  for (const CLI::App *one : app.get_subcommands(nullptr))
    if (!words.empty() && one->get_name() == words.front())
      verb = one;
  auto refuse = [&](const std::string &wrong) {
    std::cerr << host.program << ": error: " << wrong << "\n"
              << "see " << host.program << " " << (verb ? verb->get_name() + " " : "")
              << "--help\n";
    return 2;
  };
  // CLI11 would only say that some verb is missing.
  if (words.empty())
    return refuse("expects a verb: " + join(listVerbs(app)));
  if (words.front()[0] != '-' && !verb) {
    std::vector<std::string> names = listVerbs(app);
    return refuse("unknown verb '" + plain(words.front()) + "', expected one of " + join(names) +
                  didYouMean(words.front(), names));
  }
  // What was printed is worth nothing where it does not arrive.
  auto finish = [&host](int code) {
    bool arrived = std::cout.flush().good() && std::fflush(stdout) == 0 && !std::ferror(stdout);
    if (code != 0 || arrived)
      return code;
    std::cerr << host.program << ": error: cannot write to standard output\n";
    return 1;
  };
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return finish(code);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return finish(app.exit(error)); // help
    // An option that there is not may have left its value where another word should stand.
    std::string unknown = describeUnknown(verb ? *verb : app);
    bool isCause = !unknown.empty() && (dynamic_cast<const CLI::ExtrasError *>(&error) ||
                                        dynamic_cast<const CLI::RequiredError *>(&error));
    return refuse(isCause ? unknown : error.what());
  }
}

} // namespace fovea::verbs
