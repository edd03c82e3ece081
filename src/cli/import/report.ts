import type { Progress } from '../progress.ts';

/** Tells of refused rows as they come, so that memory stays flat however many there are. */
export interface Report {
  refuse(line: number, reason: string): void;
  end(imported: number, refused: number): void;
}

export function reportForPeople(progress: Progress): Report {
  return {
    refuse(line, reason) {
      progress.clear();
      process.stderr.write(`line ${line}: ${reason}\n`);
    },
    end(imported, refused) {
      progress.clear();
      process.stdout.write(`imported ${imported}, refused ${refused}\n`);
    },
  };
}

/** One JSON value; the counts stand last, because only then they are known. */
export function reportForMachines(progress: Progress): Report {
  let separator = '{"refusals":[';
  return {
    refuse(line, reason) {
      process.stdout.write(separator + JSON.stringify({ line, reason }));
      separator = ',';
    },
    end(imported, refused) {
      progress.clear();
      const start = refused === 0 ? separator : '';
      process.stdout.write(`${start}],"imported":${imported},"refused":${refused}}\n`);
    },
  };
}
