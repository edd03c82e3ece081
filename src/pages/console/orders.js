import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ORDER_STATUSES } from '../../resources/orders/rules.ts';
import { Time } from '../shared/format.js';
import { Field } from '../shared/forms.js';
import { Badge } from '../shared/notice.js';
import { withQuery } from './api.js';
import { AnimalLink, IdFilter, RowMenu, useAnimalNames } from './catalogue.js';
import { AccountPicker, asChoice } from './fields.js';
import { ACCOUNT, ListTable, useList } from './list.js';
import { Confirm, Page } from './page.js';
import { filterBy, useAddress } from './router.js';
import { useIsAdmin } from './session.js';

/** @typedef {import('./schema.d.ts').Order} Order */

const STATUS_CHOICES = [{ value: '', text: 'All' }, ...ORDER_STATUSES.map(asChoice)];

export function Orders() {
  const { query } = useAddress();
  const filters = Object.fromEntries(
    ['status', 'accountId', 'petId'].map((name) => [name, query.get(name) ?? '']),
  );
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return html`<${Page} title="Orders">
    <search class="filters">
      <${Field} label="Status" value=${filters.status} choices=${STATUS_CHOICES}
        onValue=${(/** @type {string} */ status) => filterBy({ status })} />
      <${AccountPicker} id=${filters.accountId} onId=${(/** @type {string} */ accountId) => filterBy({ accountId }, { isTyped: true })} />
      <${IdFilter} label="Id of the animal" id=${filters.petId}
        onId=${(/** @type {string} */ petId) => filterBy({ petId })} />
    </search>
    <${OrderTable} filters=${filters} empty=${isFiltered ? 'No order fits these filters.' : 'There are no orders yet.'} />
  <//>`;
}

const KINDS = /** @type {const} */ ({
  pending: 'warn',
  complete: 'good',
  cancelled: undefined,
  expired: undefined,
});

/** Seconds between two polls. */
const LIVE = 5;

/**
 * Orders, with the buttons that complete and cancel those that are open.
 * @param {{
 *   filters: Readonly<Record<string, string>>, empty: string, isOfAnimal?: boolean, onChanged?: () => void,
 * }} props
 */
export function OrderTable({ filters, empty, isOfAnimal = false, onChanged }) {
  const list = useList(withQuery('/orders', { ...filters, limit: 100 }), LIVE);
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState(/** @type {{ dialog: any, order: Order } | undefined} */ (undefined));
  const names = useAnimalNames(isOfAnimal ? [] : (list.data?.rows ?? []).map(({ petId }) => petId));
  /** @type {import('../shared/table.js').Columns<Order>} */
  const columns = [
    { name: 'Id', isName: true, cell: ({ id }) => String(id) },
    ACCOUNT,
    !isOfAnimal && {
      name: 'Animal',
      cell: ({ petId }) => html`<${AnimalLink} id=${petId} name=${names.get(petId)} />`,
    },
    { name: 'Status', cell: ({ status }) => html`<${Badge} kind=${KINDS[status]}>${status}<//>` },
    { name: 'Created', cell: ({ createdAt }) => html`<${Time} at=${createdAt} />` },
    {
      name: 'Expires',
      cell: ({ status, expiresAt }) =>
        status === 'pending' ? html`<${Time} at=${expiresAt} isRelative />` : '–',
    },
    { name: 'Ship date', cell: ({ shipDate }) => (shipDate ? html`<${Time} at=${shipDate} />` : '–') },
    isAdmin && {
      name: '',
      cell: (order) =>
        order.status === 'pending' &&
        html`<${RowMenu} about="order ${order.id}" actions=${[
          ['Complete', () => setOpen({ dialog: CompleteOrder, order })],
          ['Cancel', () => setOpen({ dialog: CancelOrder, order }), 'danger'],
        ]} />`,
    },
  ];
  const changed = () => {
    list.refresh();
    onChanged?.();
  };
  return html`
    <${ListTable} list=${list} caption=${isOfAnimal ? 'Orders of the animal' : 'Orders'} columns=${columns} empty=${empty} />
    ${open && html`<${open.dialog} order=${open.order} onClose=${() => setOpen(undefined)} onChanged=${changed} />`}
  `;
}

/** @param {{ order: Order, onClose: () => void, onChanged: () => void }} props */
function CompleteOrder({ order, ...dialog }) {
  return html`<${Confirm} title="Complete order ${order.id}" submit="Complete order"
    request=${['POST', `/orders/${order.id}/complete`]} done="Order ${order.id} is complete." ...${dialog}>
    <p>Animal ${order.petId} will be sold to <b>${order.account}</b>.</p>
  <//>`;
}

/** @param {{ order: Order, onClose: () => void, onChanged: () => void }} props */
function CancelOrder({ order, ...dialog }) {
  return html`<${Confirm} title="Cancel order ${order.id}" submit="Cancel order" back="Keep order" isDangerous
    request=${['DELETE', `/orders/${order.id}`]} done="Order ${order.id} is cancelled." ...${dialog}>
    <p>Order of <b>${order.account}</b></p>
    <p>Animal ${order.petId} becomes available again at once.</p>
  <//>`;
}
