// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `completions` and `man`: what --help says, as a shell's completions and as a manual page. Both
// are read off the definitions that the command line is parsed by.
#include "tools/verbs/Common.h"

namespace fovea::verbs {

namespace {

struct Flag {
  std::vector<std::string> names; ///< with their dashes, the shortest first
  std::string description;
  bool takesValue;
  std::vector<std::string> choices;
};

/// A text with `from` replaced wherever it stands.
std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// What stands in braces in a type: "TEXT:{a,b}".
std::vector<std::string> readChoices(const std::string &type) {
  std::vector<std::string> choices;
  size_t begin = type.find('{'), end = type.find('}', begin);
  while (begin != std::string::npos && begin < end) {
    size_t next = std::min(type.find(',', begin + 1), end);
    choices.push_back(type.substr(begin + 1, next - begin - 1));
    begin = next;
  }
  return choices;
}

std::vector<Flag> listFlags(const CLI::App &verb) {
  std::vector<Flag> flags;
  for (const CLI::Option *option : verb.get_options()) {
    bool takesValue = option->get_items_expected_max() > 0 && option->get_type_size() > 0;
    Flag flag{listNames(*option), option->get_description(), takesValue,
              readChoices(option->get_type_name())};
    if (!flag.names.empty())
      flags.push_back(flag);
  }
  return flags;
}

/// The choices of its words without a dash.
std::vector<std::string> listWords(const CLI::App &verb) {
  for (const CLI::Option *option : verb.get_options())
    if (option->get_positional())
      if (auto choices = readChoices(option->get_type_name()); !choices.empty())
        return choices;
  return listVerbs(verb);
}

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The first sentence, without what ends it.
std::string summarize(const std::string &text) {
  size_t end = std::min(text.find_first_of(";:\n"), text.find(". "));
  return text.substr(0, end);
}

//===-- Shells -------------------------------------------------------------------------------===//

std::string writeBash(const CLI::App &app) {
  std::string name = app.get_name(), function = "_" + replaced(name, "-", "_"), values, flags,
              words;
  for (const CLI::App *verb : app.get_subcommands(nullptr)) {
    std::string own = verb->get_name();
    std::vector<std::string> all;
    for (const Flag &flag : listFlags(*verb)) {
      all.insert(all.end(), flag.names.begin(), flag.names.end());
      for (const std::string &spelt : flag.names)
        if (flag.takesValue)
          values += "    " + own + ":" + spelt + ") COMPREPLY=($(compgen " +
                    (flag.choices.empty() ? "-f" : "-W '" + join(flag.choices) + "'") +
                    " -- \"$word\")); return ;;\n";
    }
    flags += "      " + own + ") words='" + join(all) + "' ;;\n";
    if (auto choices = listWords(*verb); !choices.empty())
      words += "    " + own + ") COMPREPLY=($(compgen -W '" + join(choices) +
               "' -- \"$word\")); return ;;\n";
  }
  return "# Completions of " + name + " for bash.\n" + function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         join(listVerbs(app)) +
         "' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  # --flag=value comes in three words.\n"
         "  if [ \"$word\" = = ]; then\n"
         "    word=\n"
         "  elif [ \"$before\" = = ]; then\n"
         "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]}:$before in\n" +
         values +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         flags +
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F " +
         function + " " + name + "\n";
}

/// For a specification of _arguments between single quotes.
std::string quotedForZsh(std::string text) {
  for (const char *special : {"\\", "[", "]", ":"})
    text = replaced(text, special, std::string("\\") + special);
  return replaced(text, "'", "'\\''");
}

std::string writeZsh(const CLI::App &app) {
  std::string name = app.get_name(), function = "_" + replaced(name, "-", "_"), verbs, cases;
  for (const CLI::App *verb : app.get_subcommands(nullptr)) {
    verbs +=
        "    '" + verb->get_name() + ":" + quotedForZsh(summarize(verb->get_description())) + "'\n";
    cases += "    " + verb->get_name() + ")\n      _arguments";
    for (const Flag &flag : listFlags(*verb))
      for (const std::string &spelt : flag.names) {
        bool isLong = spelt.size() > 2;
        cases += " \\\n        '" + spelt + (flag.takesValue ? isLong ? "=" : "+" : "") + "[" +
                 quotedForZsh(summarize(flag.description)) + "]";
        if (flag.takesValue)
          cases += ":value:" + (flag.choices.empty() ? "_files" : "(" + join(flag.choices) + ")");
        cases += "'";
      }
    auto words = listWords(*verb);
    cases += " \\\n        '*:file:" + (words.empty() ? "_files" : "(" + join(words) + ")") +
             "'\n      ;;\n";
  }
  return "#compdef " + name + "\n# Completions of " + name + " for zsh.\n" + function +
         "() {\n  local -a verbs\n  verbs=(\n" + verbs +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
         "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n" +
         cases + "  esac\n}\n" + function + " \"$@\"\n";
}

std::string quotedForFish(const std::string &text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string writeFish(const CLI::App &app) {
  std::string name = app.get_name(), text = "# Completions of " + name + " for fish.\n";
  for (const CLI::App *verb : app.get_subcommands(nullptr)) {
    text += "complete -c " + name + " -n __fish_use_subcommand -f -a " + verb->get_name() + " -d " +
            quotedForFish(summarize(verb->get_description())) + "\n";
    std::string when =
        "complete -c " + name + " -n '__fish_seen_subcommand_from " + verb->get_name() + "'";
    if (auto words = listWords(*verb); !words.empty())
      text += when + " -f -a '" + join(words) + "'\n";
    for (const Flag &flag : listFlags(*verb)) {
      text += when;
      for (const std::string &spelt : flag.names)
        text += spelt.size() > 2 ? " -l " + spelt.substr(2) : " -s " + spelt.substr(1);
      if (!flag.choices.empty())
        text += " -x -a '" + join(flag.choices) + "'";
      else if (flag.takesValue)
        text += " -r";
      text += " -d " + quotedForFish(summarize(flag.description)) + "\n";
    }
  }
  return text;
}

//===-- The manual ---------------------------------------------------------------------------===//

/// Text for troff: dashes stay dashes, and no line is taken for a request.
std::string escaped(std::string text) {
  text = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  text = replaced(text, "\n.", "\n\\&.");
  text = replaced(text, "\n'", "\n\\&'");
  if (!text.empty() && (text[0] == '.' || text[0] == '\''))
    text = "\\&" + text;
  return text;
}

std::string writeOptions(const CLI::App &verb) {
  std::string text;
  for (const CLI::Option *option : verb.get_options()) {
    if (option->get_group().empty())
      continue;
    std::string name =
        option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    std::string type = option->get_type_name();
    text += ".TP\n.B " + escaped(replaced(name, ",", ", ")) + "\n";
    if (!option->get_positional() && !type.empty() && option->get_items_expected_max() > 0)
      text += escaped("(" + type +
                      (option->get_default_str().empty() ? "" : ", " + option->get_default_str()) +
                      ") ");
    text += escaped(option->get_description()) + "\n";
  }
  return text;
}

std::string writeManual(const CLI::App &app, const char *version) {
  std::string name = app.get_name(), title = name;
  for (char &c : title)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = ".TH " + title + " 1 \"\" \"Fovea " + version + "\" \"Fovea\"\n.SH NAME\n" +
                     escaped(name) + " \\- " +
                     escaped(replaced(summarize(app.get_description()), ".", "")) +
                     "\n.SH SYNOPSIS\n.B " + escaped(name) +
                     "\nVERB [OPTIONS] ...\n.SH DESCRIPTION\n" + escaped(app.get_description()) +
                     " Standard output holds only the result. Exit codes: 0 success; 1 an error in "
                     "the input, with a message that has file, location, found and expected; 2 a "
                     "usage error; 70 an internal error.\n.SH VERBS\n";
  for (const CLI::App *verb : app.get_subcommands(nullptr)) {
    text += ".SS " + escaped(verb->get_name()) + "\n" + escaped(verb->get_description()) + ".\n";
    if (std::string footer = verb->get_footer(); !footer.empty())
      text += ".PP\n.nf\n" + escaped(footer) + (footer.back() == '\n' ? "" : "\n") + ".fi\n";
    text += writeOptions(*verb);
  }
  return text;
}

} // namespace

void addHelpPages(CLI::App &app, const Host &host, int &code) {
  auto shell = std::make_shared<std::string>();
  CLI::App *completions =
      app.add_subcommand("completions", "Print completions of this command line for a shell");
  completions->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completions->footer("To try them in bash:  source <(" + host.program + " completions bash)\n");
  auto write = [&host, &code](const char *verb, auto make) {
    runBody(host, verb, code, [](std::string message) { return message; }, [&] { print(make()); });
  };
  completions->callback([&app, shell, write] {
    write("completions", [&] {
      return *shell == "bash" ? writeBash(app) : *shell == "zsh" ? writeZsh(app) : writeFish(app);
    });
  });
  CLI::App *manual = app.add_subcommand("man", "Print the manual page, for man and troff");
  manual->footer("To read it:  " + host.program + " man | man -l -\n");
  manual->callback(
      [&app, write] { write("man", [&] { return writeManual(app, fovea_version()); }); });
}

} // namespace fovea::verbs
