import { Argument, type Command, type Option } from 'commander';
import { ownCommand } from '../terminal/command.ts';
import { NO_JSON, type Taker } from '../terminal/takers.ts';
import type { ProgramTerminal } from './context.ts';

/**
 * Each script asks `petstore __complete SHELL WORDS…`, where the last word is the one to complete. The answer has a line
 * `files` if the name of a file can stand there, or else `words`, and then a line for each word.
 */
const SCRIPTS = {
  bash: `_petstore() {
  local IFS=$'\\n' lines
  lines=($(command petstore __complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  COMPREPLY=("\${lines[@]:1}")
  # Without matches, bash offers files. Version 3 has no compopt to turn that off.
  [ "\${lines[0]}" = files ] || compopt +o default 2>/dev/null
}
complete -o default -F _petstore petstore
`,
  zsh: `#compdef petstore
_petstore() {
  local -a lines found
  lines=("\${(@f)$(command petstore __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)lines[2,-1]}")
  (( $#found )) && _describe petstore found
  [ "\${lines[1]}" != files ] || _files
}
if [ "\${funcstack[1]}" = _petstore ]; then _petstore "$@"; else compdef _petstore petstore; fi
`,
  fish: `function __petstore
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command petstore __complete fish $before[2..-1] "$current" 2>/dev/null)
    printf '%s\\n' $lines[2..-1]
    test "$lines[1]" = files; and __fish_complete_path $current
end
complete -c petstore -f -a '(__petstore)'
`,
} as const;

type Shell = keyof typeof SCRIPTS;

const SHELL: Taker<Shell> = {
  make: () => [new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS))],
};

/** What stands between a word and its description in the answer to a shell. bash takes no description. */
const SEPARATORS: Readonly<Record<Shell, string | undefined>> = { bash: undefined, zsh: ':', fish: '\t' };

export const completionCommand = ownCommand('completion', {
  description: 'print a script that completes commands in a shell',
  takes: { shell: SHELL, json: NO_JSON },
  notes: `For one session, and in the file of the shell for all:
  bash  source <(petstore completion bash)           in ~/.bashrc
  zsh   source <(petstore completion zsh)            in ~/.zshrc, after compinit
  fish  petstore completion fish | source            in ~/.config/fish/config.fish`,
  run:
    ({ shell }, { system }: ProgramTerminal) =>
    () =>
      void system.stdout.write(SCRIPTS[shell]),
});

interface Word {
  readonly text: string;
  readonly description: string;
}

/** The answer to a shell. `words` follow the name of the program. `program` has all commands. */
export function complete(program: Command, shell: string, words: readonly string[]): string {
  const { words: found, takesFile } = findWords(program, words.slice(0, -1), words.at(-1) ?? '');
  const separator = SEPARATORS[shell as Shell];
  const lines = found.map(({ text, description }) =>
    separator === undefined ? text : `${text}${separator}${description}`,
  );
  return `${[takesFile ? 'files' : 'words', ...lines].join('\n')}\n`;
}

/** What can be typed after the words `before`, and begins with `current`. */
function findWords(program: Command, before: readonly string[], current: string) {
  let command = program;
  // Any command can follow `help`, as it can follow the name of the program.
  for (const word of before)
    command = command.commands.find((child) => child.name() === word && word !== 'help') ?? command;
  const options = command.createHelp().visibleOptions(command);
  const option = options.find((candidate) => candidate.required && readFlag(candidate) === before.at(-1));
  const takers = option === undefined ? command.registeredArguments : [option];
  const takesFile = takers.some(isFile);
  let words = takers.flatMap(readChoices);
  if (option === undefined) {
    const flags = options.map((flag) => ({ text: readFlag(flag), description: flag.description }));
    words = [
      ...command.commands.map((child) => ({ text: child.name(), description: child.description() })),
      ...words,
    ];
    // A command without words and files offers its options at once.
    if (current.startsWith('-') || (words.length === 0 && !takesFile)) words = flags;
  }
  return { words: words.filter(({ text }) => text.startsWith(current)), takesFile };
}

function readFlag(option: Option): string {
  return option.long ?? option.flags;
}

/** A value that is called `file` is the name of one. */
function isFile(taker: Argument | Option): boolean {
  return taker instanceof Argument ? taker.name() === 'file' : taker.flags.endsWith('<file>');
}

function readChoices(taker: Argument | Option): readonly Word[] {
  return taker.argChoices?.map((text) => ({ text, description: '' })) ?? [];
}
