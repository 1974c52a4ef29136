import { Text } from '@mantine/core'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { Filter } from '../../parts/filters.tsx'
import { Instant } from '../../parts/instant.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Id, ObjectLink } from '../../parts/object-link.tsx'
import { sentenceCase } from '../../words.ts'
import { getOwnList, type Schemas } from '../api.ts'
import { pageOf } from '../kinds.ts'

type Row = Schemas['Activity']

const PEOPLE: Readonly<Record<string, string>> = { programs: 'Your programs', operator: 'The operator' }

const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', cell: ({ at }) => <Instant at={at} /> },
  { title: 'Who', cell: ({ by, name }) => name ?? PEOPLE[by] ?? by },
  {
    title: 'What',
    cell: ({ action, details }) => (
      <>
        {sentenceCase(action.replace(/^portal\./, '').replaceAll('.', ' '))}
        {details && (
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {said(details)}
          </Text>
        )}
      </>
    ),
  },
  { title: 'To', cell: ({ target }) => <To target={target} /> },
  { title: 'From', cell: ({ address }) => address ?? '–' },
  {
    title: 'Request',
    cell: ({ by, requestId }) =>
      requestId && by === 'programs' ? <ObjectLink kind="request" id={requestId} /> : '–',
  },
]

/** By its name where the portal has a page of it. */
function To({ target }: Pick<Row, 'target'>) {
  const kind = pageOf(target)
  return kind ? <ObjectLink kind={kind} id={target} /> : <Id id={target} what="id" short />
}

const said = (details: string): string =>
  Object.entries(JSON.parse(details) as Record<string, unknown>)
    .map(
      ([name, value]) =>
        `${sentenceCase(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    .join(', ')

const FILTERS: readonly Filter[] = [
  { name: 'name', label: 'Member', kind: 'text', placeholder: 'asha@shop.example' },
  { name: 'target', label: 'Done to', kind: 'text', placeholder: 'Id of a code, card, member …' },
  { name: 'from', label: 'From', kind: 'from' },
  { name: 'to', label: 'Until', kind: 'to' },
]

/** Who did what, when and from where. */
export function Activity() {
  return (
    <ListPage
      title="Activity"
      lead="Who did what, when and from where: your members, your programs, and the operator for you."
      name="activity"
      caption="Activity"
      load={getOwnList<Row>('/activity', {}, true)}
      columns={COLUMNS}
      rowKey={({ action, at, target, requestId = '' }) => at + action + target + requestId}
      filters={FILTERS}
      empty={<EmptyState title="Nothing yet">What members and programs change appears here.</EmptyState>}
    />
  )
}
