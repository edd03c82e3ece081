import { LongOutput, printable, printLine } from '../output.ts';
import type { Progress } from '../progress.ts';

/** Reports each refused row at once. Await each call, so that a slow reader slows the import and memory stays flat. */
export interface Report {
  refuse(line: number, reason: string): Promise<void>;
  end(imported: number, refused: number): Promise<void>;
}

export function textReport(progress: Progress): Report {
  const output = new LongOutput(process.stderr);
  return {
    refuse(line, reason) {
      progress.clear();
      return output.write(`${printable(`line ${line}: ${reason}`)}\n`);
    },
    async end(imported, refused) {
      progress.clear();
      await output.flush();
      printLine(`imported ${imported}, refused ${refused}`);
    },
  };
}

/** One JSON value. The counts come last, because they are known last. */
export function jsonReport(progress: Progress): Report {
  const output = new LongOutput(process.stdout);
  let separator = '{"refusals":[';
  return {
    refuse(line, reason) {
      const start = separator;
      separator = ',';
      return output.write(start + printable(JSON.stringify({ line, reason })));
    },
    async end(imported, refused) {
      progress.clear();
      const start = refused === 0 ? separator : '';
      await output.write(`${start}],"imported":${imported},"refused":${refused}}\n`);
      await output.flush();
    },
  };
}
