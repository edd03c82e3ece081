import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { PET_STATUSES } from '../../resources/pets/rules.ts';
import { Time } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { usePoll } from '../shared/poll.js';
import { Name } from '../shared/table.js';
import { AddAnimal, ChangeAnimal, DeleteAnimal } from './animal-form.js';
import { get, withQuery } from './api.js';
import { CategoryField, CategoryLink, IdFilter, PetStatus, useCategories } from './catalogue.js';
import { asChoice } from './fields.js';
import { AccountLink, ListTable, useList } from './list.js';
import { OrderTable } from './orders.js';
import { Card, Loaded, Page } from './page.js';
import { filterBy, navigate, useAddress } from './router.js';
import { useIsAdmin } from './session.js';

/** @typedef {import('./schema.d.ts').Pet} Pet */

const STATUS_CHOICES = [{ value: '', text: 'All' }, ...PET_STATUSES.map(asChoice)];

export function Animals() {
  const { query } = useAddress();
  const filters = Object.fromEntries(
    ['status', 'categoryId', 'id'].map((name) => [name, query.get(name) ?? '']),
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
        onId=${(/** @type {string} */ categoryId) => filterBy({ categoryId })} />
      <${IdFilter} label="Id" id=${filters.id} onId=${(/** @type {string} */ id) => filterBy({ id })} />
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
  const button = (
    /** @type {Pet} */ animal,
    /** @type {string} */ verb,
    /** @type {any} */ dialog,
    kind = '',
  ) =>
    html`<button type="button" class=${kind} onClick=${() => setOpen({ dialog, animal })}>
      ${verb}<span class="hidden-text"> animal ${animal.id}</span>
    </button>`;
  /** @type {import('../shared/table.js').Columns<Pet>} */
  const columns = [
    {
      name: 'Name',
      isName: true,
      cell: ({ id, name }) => html`<a href="/animals/${id}"><${Name} text=${name} /></a>`,
    },
    { name: 'Id', isNumber: true, cell: ({ id }) => String(id) },
    {
      name: 'Category',
      cell: ({ categoryId }) => html`<${CategoryLink} categories=${categories} id=${categoryId} />`,
    },
    { name: 'Status', cell: ({ status }) => html`<${PetStatus} status=${status} />` },
    isAdmin && {
      name: '',
      cell: (animal) => html`<div class="row-actions">
        ${button(animal, 'Change', ChangeAnimal)}${button(animal, 'Delete', DeleteAnimal, 'danger')}
      </div>`,
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
        <${Card} title="Orders">
          <${OrderTable} filters=${{ petId: id }} onChanged=${poll.refresh} isOfAnimal empty="Nobody has ordered this animal." />
        <//>
      `}<//>`
    }
    ${open === 'change' && html`<${ChangeAnimal} ...${dialog} onChanged=${poll.refresh} />`}
    ${open === 'delete' && html`<${DeleteAnimal} ...${dialog} onChanged=${() => navigate('/animals')} />`}
  <//>`;
}

/** What operators alone see of an animal. @param {{ animal: Pet }} props */
function Facts({ animal: { ownerId, owner = '', changedAt, changedBy } }) {
  return html`<section class="card" aria-label="About the animal">
    <dl class="facts">
      <div><dt>Owner</dt><dd>${ownerId === 0 ? 'the house' : html`<${AccountLink} id=${ownerId} name=${owner} />`}</dd></div>
      <div><dt>Last changed</dt><dd>${changedAt ? html`<${Time} at=${changedAt} isRelative />` : 'unknown'}</dd></div>
      <div><dt>By</dt><dd>${
        changedBy
          ? html`<${Name} text=${changedBy.name} /> <span class="muted fixed">${changedBy.kind}</span>`
          : 'unknown'
      }</dd></div>
    </dl>
  </section>`;
}
