export interface Word {
  readonly text: string;
  readonly description: string;
}

/** A place on a command line, and what can be typed there. */
export interface Place {
  /** The commands before it, for example `petstore keys create`. */
  readonly at: string;
  /** The option whose value stands here. Undefined: any other place after the commands. */
  readonly after: string | undefined;
  readonly words: readonly Word[];
  /** Offered when the word begins with a dash. */
  readonly options: readonly Word[];
  /** Whether the name of a file can stand here. */
  readonly files: boolean;
}

/** The script of each shell. It finds the place of the cursor: the commands before it, and the word before it. */
export const SCRIPTS = { bash, zsh, fish } as const satisfies Record<
  string,
  (places: readonly Place[]) => string
>;

function bash(places: readonly Place[]): string {
  const { commands, arms } = posixCases(places, (words) => `'${words.map(({ text }) => text).join(' ')}'`);
  return `_petstore() {
  local word at=petstore found= options= files=
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in ${commands}) at="$at $word" ;; esac
  done
  case "$at:$previous" in
${arms}
  esac
  case "$current" in -*) found=$options ;; esac
  COMPREPLY=($(compgen -W "$found" -- "$current"))
  # Without matches, bash offers files. Version 3 has no compopt to turn that off.
  [ -n "$files" ] || compopt +o default 2>/dev/null
}
complete -o default -F _petstore petstore
`;
}

function zsh(places: readonly Place[]): string {
  const list = (words: readonly Word[]) =>
    `(${words.map(({ text, description }) => quoted(`${text}:${description}`)).join(' ')})`;
  const { commands, arms } = posixCases(places, list);
  // The parameter "options" of zsh is special. A local one would change the options of the shell.
  return `#compdef petstore
_petstore() {
  local word at=petstore files=
  local -a found flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in ${commands}) at="$at $word" ;; esac
  done
  case "$at:\${words[CURRENT-1]}" in
${arms.replaceAll(' options=', ' flags=')}
  esac
  case "$PREFIX" in -*) found=("\${flags[@]}") ;; esac
  (( $#found )) && _describe petstore found
  [ -z "$files" ] || _files
}
if [ "\${funcstack[1]}" = _petstore ]; then _petstore "$@"; else compdef _petstore petstore; fi
`;
}

function fish(places: readonly Place[]): string {
  const list = (words: readonly Word[]) =>
    words.map(({ text, description }) => quoted(`${text}\t${description}`)).join(' ');
  const arms = valuesFirst(places).map((place) => {
    const lines = [
      `case '${place.at}:${place.after ?? '*'}'`,
      ...assignments(place, (name, words) => `    set ${name} ${list(words)}`, '    set files yes'),
    ];
    return lines.map((line) => `        ${line}`).join('\n');
  });
  return `function __petstore
    set -l at petstore
    set -l found
    set -l options
    set -l files
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for word in $before
        switch "$at $word"
            case ${commandsOf(places).join(' ')}
                set at "$at $word"
        end
    end
    switch "$at:$before[-1]"
${arms.join('\n')}
    end
    string match -q -- '-*' $current; and set found $options
    set -q found[1]; and printf '%s\\n' $found
    set -q files[1]; and __fish_complete_path $current
end
complete -c petstore -f -a '(__petstore)'
`;
}

/** The patterns and arms of the two choices that bash and zsh write in the same way. */
function posixCases(places: readonly Place[], list: (words: readonly Word[]) => string) {
  const arms = valuesFirst(places).map((place) => {
    const set = assignments(place, (name, words) => `${name}=${list(words)}`, 'files=yes');
    return `    '${place.at}:'${place.after ?? '*'}) ${set.join(' ')} ;;`;
  });
  return { commands: commandsOf(places).join('|'), arms: arms.join('\n') };
}

/** The variables that a place sets. The others stay empty. */
function assignments(
  { words, options, files }: Place,
  assign: (name: string, words: readonly Word[]) => string,
  withFiles: string,
): readonly string[] {
  return [
    ...(words.length > 0 ? [assign('found', words)] : []),
    ...(options.length > 0 ? [assign('options', options)] : []),
    ...(files ? [withFiles] : []),
  ];
}

/** The places of values come first, because the others match after any word. */
function valuesFirst(places: readonly Place[]): readonly Place[] {
  return places.toSorted((one, other) => Number(one.after === undefined) - Number(other.after === undefined));
}

/** Every command with the ones above it, in quotes. */
function commandsOf(places: readonly Place[]): readonly string[] {
  return [...new Set(places.map(({ at }) => `'${at}'`))];
}

/** In single quotes. All three shells read a quote that is written like this. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
