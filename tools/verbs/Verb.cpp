// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of the running verbs: adding them, choosing one, and turning
// what it throws into a message and an exit code.
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
      say(common->inWordsOfUser(failure.message));
      if (!failure.hint.empty())
        std::cerr << plain(failure.hint) << "\n";
      if (code == 2)
        std::cerr << "see " << host.program << " " << name << " --help\n";
      if (code == 70)
        std::cerr << "This is a fault of Fovea, not of your input; please report it.\n";
    } catch (const std::bad_alloc &) {
      code = 1;
      say("out of memory");
    } catch (const std::exception &error) {
      code = 70;
      say(error.what());
    }
  });
  return verb;
}

void addRunningVerbs(CLI::App &app, const Host &host, int &code) {
  addRun(app, host, code);
  addGenerate(app, host, code);
  addEmbed(app, host, code);
  addTranslate(app, host, code);
  addFillMask(app, host, code);
  addClassify(app, host, code);
  addTag(app, host, code);
  addAnswer(app, host, code);
  addBench(app, host, code);
}

/// The names of all verbs: "compile, check, ...".
static std::string listVerbs(const CLI::App &app) {
  std::string text;
  for (const CLI::App *verb : app.get_subcommands(nullptr))
    text += (text.empty() ? "" : ", ") + verb->get_name();
  return text;
}

int parseAndRun(CLI::App &app, int argc, char **argv, const Host &host, int &code) {
  // CLI11 would only say that some verb is missing.
  std::string wrong;
  if (argc < 2)
    wrong = "expects a verb: " + listVerbs(app);
  else if (argv[1][0] != '-' &&
           app.get_subcommands([&](const CLI::App *verb) { return verb->get_name() == argv[1]; })
               .empty())
    wrong = "unknown verb '" + std::string(argv[1]) + "', expected one of " + listVerbs(app);
  if (!wrong.empty()) {
    std::cerr << host.program << ": error: " << wrong << "\n"
              << "see " << host.program << " --help\n";
    return 2;
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
    app.parse(argc, argv);
    return finish(code);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return finish(app.exit(error)); // help
    std::string verb = argv[1][0] == '-' ? "" : std::string(argv[1]) + " ";
    std::cerr << host.program << ": error: " << error.what() << "\n"
              << "see " << host.program << " " << verb << "--help\n";
    return 2;
  }
}

} // namespace fovea::verbs
