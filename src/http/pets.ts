// Contract: section 3.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyRecord, Scope } from '../domain/account.ts';
import type { Moment } from '../domain/clock.ts';
import { encodeCursor } from '../domain/cursor.ts';
import { PetStoreError } from '../domain/errors.ts';
import { FirstPages } from '../domain/first-pages.ts';
import { int64FromDecimal } from '../domain/int64.ts';
import { parseNewPet } from '../domain/pet.ts';
import type { PetPage, PetQuery, PetStore } from '../domain/ports.ts';
import { readJsonBody } from './body.ts';
import { entityTag, noneMatchNames } from './conditional.ts';
import { deprecationHeaders, GET_PET } from './deprecation.ts';
import { errorReply, JSON_CONTENT } from './errors.ts';
import { type Fields, fields } from './fields.ts';
import { parseBody, petJson } from '../json.ts';
import { KEY_IN_FLIGHT, KEY_REUSED, NO_SUCH_PET, REMOVED } from './messages.ts';
import { octets } from './octets.ts';
import { parseIdempotencyKey, parsePetQuery } from './parameters.ts';
import type { Reply } from './reply.ts';

/** A request whose caller is known and admitted, at its operation. */
export interface Call {
  readonly request: IncomingMessage;
  /** What follows the `?`. */
  readonly query: string;
  /** The path parameter, decoded; empty where the path has none. */
  readonly petId: string;
  readonly key: KeyRecord;
  readonly now: Moment;
}

export interface Operation {
  readonly id: string;
  readonly scope: Scope;
  /** Headers of every response of this operation. */
  readonly headers?: Fields;
  handle(call: Call): Promise<Reply>;
}

const REPLAY = fields('Idempotent-Replay', 'true');
const RETRY_SOON = fields('Retry-After', '1');
const REVALIDATE = fields('Cache-Control', 'private, no-cache');

/** The three operations over a store, for the base address `base`. */
export function petOperations(pets: PetStore, base: string) {
  // A page that the store gives again is not written again. It only does with first pages.
  const firstPages = new FirstPages<{ readonly page: PetPage; readonly written: Representation }>();
  return {
    listPets: {
      id: 'listPets',
      scope: 'pets:read',
      async handle({ request, query }) {
        const asked = parsePetQuery(query);
        const page = await pets.list(asked);
        const known = firstPages.get(asked);
        if (known?.page === page) return content(request, known.written);
        const written = represent(page.json, nextLink(base, asked, page));
        if (asked.before === undefined) firstPages.set(asked, { page, written });
        return content(request, written);
      },
    },

    createPet: {
      id: 'createPet',
      scope: 'pets:write',
      async handle({ request, key }) {
        const header = request.headers['idempotency-key'];
        const idempotencyKey = header === undefined ? undefined : parseIdempotencyKey(String(header));
        const body = await readJsonBody(request);
        const newPet = parseNewPet(parseBody(body));
        const creation = await pets.create(
          newPet,
          idempotencyKey === undefined
            ? undefined
            : {
                accountId: key.account.id,
                key: idempotencyKey,
                fingerprint: hash('sha256', body, 'base64url'),
              },
        );
        switch (creation.outcome) {
          case 'reused':
            return errorReply('idempotency_key_reused', KEY_REUSED);
          case 'in_flight':
            return errorReply('conflict', KEY_IN_FLIGHT, RETRY_SOON);
          case 'created':
          case 'replayed': {
            const { pet, outcome } = creation;
            const location = `Location: ${base}/pets/${pet.id}\r\n`;
            const headers = JSON_CONTENT + location + (outcome === 'replayed' ? REPLAY : '');
            return { status: 201, headers, body: octets(petJson(pet)) };
          }
        }
      },
    },

    getPet: {
      id: 'getPet',
      headers: deprecationHeaders(base),
      scope: 'pets:read',
      async handle({ request, petId, now }) {
        if (now.unix >= GET_PET.removedAt) {
          throw new PetStoreError('gone', REMOVED);
        }
        const id = int64FromDecimal(petId);
        const json = id === undefined ? undefined : await pets.get(id);
        if (json === undefined) throw new PetStoreError('not_found', NO_SUCH_PET);
        return content(request, represent(json, ''));
      },
    },
  } as const satisfies Record<string, Operation>;
}

/** What a GET answers with, ready to be sent: 200, or 304 to a client that has these very bytes. */
interface Representation {
  readonly tag: string;
  readonly whole: Reply;
  readonly notModified: Reply;
}

function represent(json: string, headers: Fields): Representation {
  const tag = entityTag(json);
  const validators = `ETag: ${tag}\r\n${REVALIDATE}${headers}`;
  return {
    tag,
    whole: { status: 200, headers: JSON_CONTENT + validators, body: octets(json) },
    notModified: { status: 304, headers: validators },
  };
}

/** 200 with its entity tag, or 304 when the client has it. */
function content({ headers }: IncomingMessage, { tag, whole, notModified }: Representation): Reply {
  return noneMatchNames(headers['if-none-match'], tag) ? notModified : whole;
}

function nextLink(base: string, { limit, status }: PetQuery, { next }: PetPage): Fields {
  if (next === undefined) return '';
  const filter = status === undefined ? '' : `&status=${status}`;
  return `Link: <${base}/pets?limit=${limit}${filter}&cursor=${encodeCursor(next)}>; rel="next"\r\n`;
}
