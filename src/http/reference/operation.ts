import { type Html, html } from '../html.ts';
import { markdown, markdownLine } from '../markdown.ts';
import type { Content, Description, OperationObject, Parameter, Ref, Response } from '../openapi/types.ts';
import { typeName } from './schema.ts';

/** Everything about one operation. */
export function operationSection(
  description: Description,
  method: string,
  path: string,
  operation: OperationObject,
): Html {
  const { operationId, summary, requestBody, responses, security } = operation;
  const scopes = security.flatMap((requirement) => Object.values(requirement).flat());
  return html`<section id="${operationId}">
<h2>${summary}</h2>
<p><code>${method.toUpperCase()} ${path}</code> <span class="quiet">${operationId}, scope ${scopes.join(', ')}</span></p>
${
  operation.deprecated === true
    ? html`<p class="deprecated">Deprecated; removed on ${operation['x-deprecated-sunset']}.</p>`
    : undefined
}
${markdown(operation.description)}
<h3>Parameters</h3>
${parameterTable(description, operation)}
${
  requestBody === undefined
    ? undefined
    : html`<h3>Request body</h3>\n<p>${requestBody.description} Required.</p>\n${examples(requestBody.content)}`
}
<h3>Responses</h3>
${Object.entries(responses).map(([status, response]) => responseDetails(status, response))}
</section>
`;
}

function parameterTable(description: Description, { parameters }: OperationObject): Html {
  const rows = parameters.map((ref) => {
    const { name, in: place, required, schema, description: text } = parameter(description, ref);
    return html`<tr><td><code>${name}</code></td><td>${place}${required === true ? ', required' : ''}</td>
<td>${typeName(schema)}</td><td>${markdownLine(text)}</td></tr>\n`;
  });
  return html`<div class="wide"><table><thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th>
<th scope="col">Description</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function parameter({ components }: Description, { $ref }: Ref): Parameter {
  const found = components.parameters[$ref.slice('#/components/parameters/'.length)];
  if (found === undefined) throw new Error(`The description has no ${$ref}.`);
  return found;
}

function responseDetails(status: string, { description, headers, content }: Response): Html {
  const names = Object.keys(headers).map((name, index) => html`${index > 0 ? ', ' : ''}<code>${name}</code>`);
  return html`<details><summary><code>${status}</code> ${markdownLine(description)}</summary>
<p class="quiet">Headers: ${names}</p>
${content === undefined ? undefined : examples(content)}</details>
`;
}

function examples(content: Content): Html {
  const { schema, examples: named } = content['application/json'];
  const link = schema.$ref === undefined ? undefined : html`<p>Body: ${typeName(schema)}</p>\n`;
  const shown = Object.values(named).map(
    ({ summary, value }) => html`<p class="quiet">${markdownLine(summary)}</p>
<pre>${JSON.stringify(value, null, 2)}</pre>\n`,
  );
  return html`${link}${shown}`;
}
