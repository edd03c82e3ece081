import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { LABELS, PET_STATUSES } from '../../resources/pets/rules.ts';
import { Time } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { usePoll } from '../shared/poll.js';
import { Badge } from '../shared/notice.js';
import { Name } from '../shared/table.js';
import { AddAnimal, ChangeAnimal, DeleteAnimal } from './animal-form.js';
import { get, withQuery } from './api.js';
import {
  CategoryField,
  CategoryLink,
  FindField,
  IdFilter,
  PetStatus,
  RowMenu,
  useCategories,
} from './catalogue.js';
import { asChoice, asWords } from './fields.js';
import { AccountLink, ListTable, useList } from './list.js';
import { OrderTable } from './orders.js';
import { Card, Loaded, Page } from './page.js';
import { Photos } from './photos.js';
import { filterBy, navigate, useAddress } from './router.js';
import { useIsAdmin } from './session.js';

/** @typedef {import('./schema.d.ts').Pet} Pet */

const STATUS_CHOICES = [{ value: '', text: 'All' }, ...PET_STATUSES.map(asChoice)];

export function Animals() {
  const { query } = useAddress();
  const filters = Object.fromEntries(
    ['status', 'categoryId', 'id', 'name', 'reference'].map((name) => [name, query.get(name) ?? '']),
  );
  const list = useList(withQuery('/pets', { ...filters, limit: 100 }));
  const categories = useCategories();
  const isAdmin = useIsAdmin();
  const [isNew, setIsNew] = useState(false);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const add = html`<button type="button" class="main" onClick=${() => setIsNew(true)}>Add animal</button>`;
  return html`<${Page} title="Animals" actions=${isAdmin && add}>
    <search class="filters">
      <${Field} label="Status" value=${filters.status} choices=${STATUS_CHOICES}
        onValue=${(/** @type {string} */ status) => filterBy({ status })} />
      <${CategoryField} categories=${categories} id=${filters.categoryId}
        onId=${(/** @type {string} */ categoryId) => filterBy({ categoryId }, { isTyped: true })} />
      <${IdFilter} label="Id" id=${filters.id} onId=${(/** @type {string} */ id) => filterBy({ id })} />
      <${FindField} label="Name" maxlength="200" title="The whole name, in whatever case" text=${filters.name}
        onText=${(/** @type {string} */ name) => filterBy({ name })} />
      <${FindField} label="Reference" maxlength="100" title="The owner's own number" text=${filters.reference}
        onText=${(/** @type {string} */ reference) => filterBy({ reference })} />
    </search>
    <${AnimalTable} list=${list} categories=${categories}
      empty=${isFiltered ? 'No animal fits these filters.' : 'There are no animals yet.'} />
    ${
      isNew &&
      html`<${AddAnimal} categories=${categories} onClose=${() => setIsNew(false)} onChanged=${list.refresh} />`
    }
  <//>`;
}

/**
 * Animals, with what an admin can do with each.
 * @param {{ list: import('./list.js').List, categories: readonly import('./schema.d.ts').Category[], empty: string }} props
 */
function AnimalTable({ list, categories, empty }) {
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState(/** @type {{ dialog: any, animal: Pet } | undefined} */ (undefined));
  /** @type {import('../shared/table.js').Columns<Pet>} */
  const columns = [
    {
      name: 'Name',
      isName: true,
      cell: ({ id, name }) => html`<a href="/animals/${id}"><${Name} text=${name} /></a>`,
    },
    { name: 'Id', cell: ({ id }) => String(id) },
    {
      name: 'Category',
      cell: ({ categoryId }) => html`<${CategoryLink} categories=${categories} id=${categoryId} />`,
    },
    { name: 'Status', cell: ({ status }) => html`<${PetStatus} status=${status} />` },
    isAdmin && {
      name: '',
      cell: (animal) =>
        html`<${RowMenu} about="animal ${animal.id}" actions=${[
          ['Change', () => setOpen({ dialog: ChangeAnimal, animal })],
          ['Delete', () => setOpen({ dialog: DeleteAnimal, animal }), 'danger'],
        ]} />`,
    },
  ];
  return html`
    <${ListTable} list=${list} caption="Animals" columns=${columns} empty=${empty} />
    ${
      open &&
      html`<${open.dialog} animal=${open.animal} categories=${categories} onClose=${() => setOpen(undefined)}
        onChanged=${list.refresh} />`
    }
  `;
}

/** Seconds between two polls. An order changes the status. */
const LIVE = 5;

/** One animal, and its orders. @param {{ id: string }} props */
export function Animal({ id }) {
  const poll = usePoll(/** @returns {Promise<Pet>} */ (signal) => get(`/pets/${id}`, signal), LIVE);
  const categories = useCategories();
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState('');
  const { data: animal } = poll;
  const actions = html`
    <button type="button" onClick=${() => setOpen('change')}>Change</button>
    <button type="button" class="danger" onClick=${() => setOpen('delete')}>Delete</button>`;
  const dialog = { animal, categories, onClose: () => setOpen('') };
  return html`<${Page} title=${animal?.name ?? `Animal ${id}`} actions=${isAdmin && animal && actions}
    badges=${
      animal &&
      html`<${PetStatus} status=${animal.status} /><span class="muted">animal ${id}</span>
        <${CategoryLink} categories=${categories} id=${animal.categoryId} />`
    }>
    ${
      !animal && poll.error?.status === 404
        ? html`<p class="empty">There is no animal ${id}.</p>`
        : html`<${Loaded} poll=${poll} label="The animal">${() =>
            animal &&
            html`
        <${Facts} animal=${animal} />
        ${animal.photoUrls && html`<${Photos} name=${animal.name} addresses=${animal.photoUrls} />`}
        <${Card} title="Orders">
          <${OrderTable} filters=${{ petId: id }} onChanged=${poll.refresh} isOfAnimal empty="Nobody has ordered this animal." />
        <//>
      `}<//>`
    }
    ${open === 'change' && html`<${ChangeAnimal} ...${dialog} onChanged=${poll.refresh} />`}
    ${open === 'delete' && html`<${DeleteAnimal} ...${dialog} onChanged=${() => navigate('/animals')} />`}
  <//>`;
}

/** What people read of a field. @type {Partial<Record<keyof typeof LABELS, (value: any) => any>>} */
const SHOWN = {
  sex: asWords,
  size: asWords,
  tags: (/** @type {readonly string[]} */ tags) =>
    html`<span class="row">${tags.map((tag) => html`<${Badge}>${tag}<//>`)}</span>`,
};

/** The fields in the order of the page. Photos have a part of their own. */
const DETAILS = /** @type {const} */ ([
  'breed',
  'sex',
  'size',
  'color',
  'birthDate',
  'reference',
  'tags',
  'description',
]);

/** What an animal has, and what operators alone see of it. @param {{ animal: Pet }} props */
function Facts({ animal }) {
  const { ownerId, owner = '', changedAt, changedBy } = animal;
  const details = DETAILS.filter((name) => animal[name] !== undefined);
  return html`<section class="card" aria-label="About the animal">
    <dl class="details">
      ${details.map(
        (name) =>
          html`<div>
            <dt>${LABELS[name]}</dt><dd>${(SHOWN[name] ?? String)(animal[name])}</dd>
          </div>`,
      )}
      <div><dt>Owner</dt><dd>${ownerId === 0 ? 'the house' : html`<${AccountLink} id=${ownerId} name=${owner} />`}</dd></div>
      <div><dt>Last changed</dt><dd>${changedAt ? html`<${Time} at=${changedAt} isRelative />` : 'unknown'}</dd></div>
      <div><dt>By</dt><dd>${changedBy ? `${changedBy.kind} ${changedBy.name}` : 'unknown'}</dd></div>
    </dl>
  </section>`;
}
