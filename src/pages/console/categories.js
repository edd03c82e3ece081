import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../shared/dialog.js';
import { Field } from '../shared/forms.js';
import { say } from '../shared/frame.js';
import { Name } from '../shared/table.js';
import { change } from './api.js';
import { RowMenu } from './catalogue.js';
import { ListTable, useList } from './list.js';
import { Confirm, Page } from './page.js';
import { useIsAdmin } from './session.js';

/** @typedef {import('./schema.d.ts').Category} Category */

export function Categories() {
  const list = useList('/categories?limit=100');
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState(/** @type {Partial<Category> | undefined} */ (undefined));
  const [deleted, setDeleted] = useState(/** @type {Category | undefined} */ (undefined));
  const add = html`<button type="button" class="main" onClick=${() => setOpen({})}>Add category</button>`;
  /** @type {import('../shared/table.js').Columns<Category>} */
  const columns = [
    {
      name: 'Name',
      isName: true,
      cell: ({ id, name }) => html`<a href="/animals?categoryId=${id}"><${Name} text=${name} /></a>`,
    },
    { name: 'Id', cell: ({ id }) => String(id) },
    { name: 'Description', cell: ({ description }) => html`<${Name} text=${description ?? '–'} />` },
    isAdmin && {
      name: '',
      cell: (category) =>
        html`<${RowMenu} about="category ${category.id}" actions=${[
          ['Change', () => setOpen(category)],
          ['Delete', () => setDeleted(category), 'danger'],
        ]} />`,
    },
  ];
  return html`<${Page} title="Categories" intro="A name leads to the animals of its category." actions=${isAdmin && add}>
    <${ListTable} list=${list} caption="Categories" columns=${columns} empty="There are no categories yet." />
    ${
      open &&
      html`<${CategoryDialog} category=${open} onClose=${() => setOpen(undefined)} onChanged=${list.refresh} />`
    }
    ${
      deleted &&
      html`<${Confirm} title="Delete category ${deleted.id}" submit="Delete" isDangerous
        request=${['DELETE', `/categories/${deleted.id}`]} done="Category ${deleted.id} is deleted."
        onClose=${() => setDeleted(undefined)} onChanged=${list.refresh}>
        <p><b><${Name} text=${deleted.name} /></b></p>
        <p>It is deleted for good, unless an animal is of it. Its id is never used again.</p>
      <//>`
    }
  <//>`;
}

/**
 * Changes a category, or adds one that has no id yet.
 * @param {{ category: Partial<Category>, onClose: () => void, onChanged: () => void }} props
 */
function CategoryDialog({ category, onClose, onChanged }) {
  const { id } = category;
  const before = { name: category.name ?? '', description: category.description ?? '' };
  const [name, setName] = useState(before.name);
  const [description, setDescription] = useState(before.description);
  async function submit() {
    if (id === undefined) {
      await change('POST', '/categories', { name, ...(description && { description }) });
      say(`The category ${name} was added.`);
    } else if (name !== before.name || description !== before.description) {
      await change('PATCH', `/categories/${id}`, {
        ...(name !== before.name && { name }),
        ...(description !== before.description && { description: description || null }),
      });
      say(`The category ${name} was changed.`);
    }
    onChanged();
    onClose();
  }
  const [title, verb] =
    id === undefined ? ['Add category', 'Add category'] : [`Change category ${id}`, 'Save'];
  return html`<${FormDialog} title=${title} submit=${verb} onClose=${onClose} onSubmit=${submit}>
    <${Field} label="Name" required maxlength="100" autocomplete="off" value=${name} onValue=${setName}
      hint="No other category has it, ignoring case." />
    <${Field} label="Description" maxlength="1000" autocomplete="off" value=${description} onValue=${setDescription} />
  <//>`;
}
