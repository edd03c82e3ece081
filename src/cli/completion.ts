import { Argument, type Command, type Option } from 'commander';
import { type Place, SCRIPTS, type Word } from './completion/scripts.ts';

const INSTALLATION = `
For one session, and in the file of the shell for all:
  bash  source <(petstore completion bash)           in ~/.bashrc
  zsh   source <(petstore completion zsh)            in ~/.zshrc, after compinit
  fish  petstore completion fish | source            in ~/.config/fish/config.fish`;

export function completionCommand(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .description('print a script that completes commands in a shell')
    .addHelpText('after', INSTALLATION)
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](placesOf(program, program.name())));
    });
}

/** What can be typed after each command, and after each option that takes a value. */
function placesOf(command: Command, at: string): readonly Place[] {
  const files = command.registeredArguments.some(isFile);
  const words = [...namesOf(command), ...command.registeredArguments.flatMap(choices)];
  const options = command.createHelp().visibleOptions(command);
  const flags = options.map((each) => ({ text: flagOf(each), description: each.description }));
  return [
    // A command without words and files offers its options at once.
    { at, after: undefined, words: words.length > 0 || files ? words : flags, options: flags, files },
    ...options
      .filter((each) => each.required)
      .map((each) => ({ at, after: flagOf(each), words: choices(each), options: [], files: isFile(each) })),
    ...command.commands
      // Any command can follow it, so the scripts offer nothing after it.
      .filter((each) => each.name() !== 'help')
      .flatMap((each) => placesOf(each, `${at} ${each.name()}`)),
  ];
}

function namesOf(group: Command): readonly Word[] {
  return group.commands.map((each) => ({ text: each.name(), description: each.description() }));
}

function flagOf(option: Option): string {
  return option.long ?? option.flags;
}

/** A value that is called `file` is the name of one. */
function isFile(taker: Argument | Option): boolean {
  return taker instanceof Argument ? taker.name() === 'file' : taker.flags.endsWith('<file>');
}

function choices(taker: Argument | Option): readonly Word[] {
  return taker.argChoices?.map((text) => ({ text, description: '' })) ?? [];
}
