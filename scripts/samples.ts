import { HTTPSnippet } from 'httpsnippet';
import { sampleRequest } from '../src/description/samples.ts';
import { OPERATIONS } from '../src/resources/operations.ts';

/** The languages that need a generator, and its target and library for each. */
const TARGETS = {
  go: ['go', 'native'],
  php: ['php', 'curl'],
  ruby: ['ruby', 'native'],
  java: ['java', 'nethttp'],
  csharp: ['csharp', 'httpclient'],
} as const;

/** How each operation is called at the base address `base`, by language and id. */
export function generateSamples(base: string) {
  return Object.fromEntries(
    OPERATIONS.map((operation) => {
      const { method, path, body, type } = sampleRequest(operation);
      const snippet = new HTTPSnippet({
        method,
        url: base + path,
        httpVersion: 'HTTP/1.1',
        cookies: [],
        headers: [
          { name: 'Authorization', value: 'Bearer <API_KEY>' },
          ...(body === undefined ? [] : [{ name: 'Content-Type', value: type }]),
        ],
        queryString: [],
        postData: body && { mimeType: type, text: JSON.stringify(body) },
        headersSize: -1,
        bodySize: -1,
      });
      const samples = Object.entries(TARGETS).map(([language, [target, library]]) => {
        const source = snippet.convert(target, library);
        return [language, complete(language, String(Array.isArray(source) ? source[0] : source))];
      });
      return [operation.id, Object.fromEntries(samples) as Record<keyof typeof TARGETS, string>];
    }),
  );
}

/**
 * The generator makes statements in Java without a class around them. What it makes in C# throws the body of an error away, which
 * says what to do.
 */
function complete(language: string, source: string): string {
  if (language === 'csharp') return source.replace(/^ *response\.EnsureSuccessStatusCode\(\);\n/m, '');
  if (language !== 'java') return source;
  const lines = source.trim().split('\n');
  return `import java.net.URI;
import java.net.http.*;

public class Sample {
    public static void main(String[] args) throws Exception {
${lines.map((line) => `        ${line}`).join('\n')}
    }
}
`;
}
