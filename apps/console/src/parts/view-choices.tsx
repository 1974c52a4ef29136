import { ActionIcon, Button, Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import {
  DENSITIES,
  type Density,
  forgetView,
  ordered,
  PAGINGS,
  type Paging,
  storeDensity,
  storePaging,
  storeView,
  type TableView,
} from '../table-view.ts'
import { sentenceCase } from '../words.ts'
import type { Column } from './data-table.tsx'
import { DownIcon, UpIcon } from './icons.tsx'

export interface ViewChoicesProps<Row> {
  readonly name: string
  readonly columns: readonly Column<Row>[]
  readonly view: TableView
  readonly setView: (view: TableView) => void
  readonly density: Density
  readonly setDensity: (density: Density) => void
  readonly paging: Paging
  readonly setPaging: (paging: Paging) => void
}

/** Chooses and orders the columns of a list, and how close its rows are. */
export function ViewChoices<Row>(props: ViewChoicesProps<Row>) {
  const { name, columns, view, setView, density, setDensity, paging, setPaging } = props
  const titles = ordered(columns, view).map(({ title }) => title)
  const change = (next: TableView) => {
    storeView(name, next)
    setView(next)
  }
  const show = (title: string, shown: boolean) => {
    const others = view.hidden.filter((one) => one !== title)
    change({ order: titles, hidden: shown ? others : [...others, title] })
  }
  const move = (at: number, by: number) => {
    const order = titles.toSpliced(at, 1).toSpliced(at + by, 0, titles[at]!)
    change({ order, hidden: view.hidden })
  }
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Density"
        value={density}
        onChange={(value) => {
          storeDensity(value as Density)
          setDensity(value as Density)
        }}
        data={DENSITIES.map((value) => ({ value, label: sentenceCase(value) }))}
      />
      <SegmentedControl
        size="xs"
        aria-label="Further rows"
        value={paging}
        onChange={(value) => {
          storePaging(value as Paging)
          setPaging(value as Paging)
        }}
        data={PAGINGS.map((value) => ({ value, label: sentenceCase(value) }))}
      />
      <Text size="xs" c="dimmed">
        Columns, kept in this browser
      </Text>
      {titles.map((title, at) => (
        <Group key={title} justify="space-between" wrap="nowrap" gap="md">
          <Checkbox
            size="xs"
            label={title}
            checked={!view.hidden.includes(title)}
            onChange={(event) => show(title, event.currentTarget.checked)}
          />
          <Group gap={2} wrap="nowrap">
            <Move title={title} up disabled={at === 0} move={() => move(at, -1)} />
            <Move title={title} disabled={at === titles.length - 1} move={() => move(at, 1)} />
          </Group>
        </Group>
      ))}
      <Button variant="default" size="compact-sm" onClick={() => setView(forgetView(name))}>
        Reset columns
      </Button>
    </Stack>
  )
}

interface MoveProps {
  readonly title: string
  readonly up?: boolean
  readonly disabled: boolean
  readonly move: () => void
}

function Move({ title, up = false, disabled, move }: MoveProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      disabled={disabled}
      onClick={move}
      aria-label={`Move ${title} ${up ? 'up' : 'down'}`}
    >
      {up ? <UpIcon /> : <DownIcon />}
    </ActionIcon>
  )
}
