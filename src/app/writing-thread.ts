import { WRITES } from '../resources/repositories.ts';
import { runWritingThread } from '../storage/sqlite/writing-thread.ts';

/* The entry of the thread that writes to SQLite. */

runWritingThread(WRITES);
