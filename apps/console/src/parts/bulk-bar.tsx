import { Button, Group, Paper, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ListLoader } from '../api.ts'
import type { BulkAction } from '../bulk.ts'
import { asCallFailed } from '../failure.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { FailureAlert } from './failure-alert.tsx'
import { count } from './money.tsx'
import type { Selection } from './selection.ts'

/** Rows that are changed at most by one action. */
const ROWS_MAX = 500

export interface BulkBarProps<Row> {
  readonly name: string
  readonly actions: readonly BulkAction<Row>[]
  readonly selection: Selection<Row>
  readonly load: ListLoader<Row>
  /** The filters and the order of the list. */
  readonly query: Record<string, string>
  readonly total: { readonly count: number } | undefined
}

/** What can be done with the selected rows. */
export function BulkBar<Row>({ name, actions, selection, load, query, total }: BulkBarProps<Row>) {
  const client = useQueryClient()
  const [action, setAction] = useState<BulkAction<Row>>()
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<unknown>()
  const rows = [...selection.rows.values()]
  const selectAll = async () => {
    setBusy(true)
    setFailed(undefined)
    try {
      const page = await client.fetchQuery({
        queryKey: [name, 'list', 'all', query],
        queryFn: () => load({ ...query, limit: String(ROWS_MAX) }),
        staleTime: 0,
      })
      selection.set(page.data)
    } catch (error) {
      setFailed(asCallFailed(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {failed !== undefined && <FailureAlert failed={failed} />}
      <Paper withBorder p="xs" role="region" aria-label="Selected rows">
        <Group gap="xs">
          <Text size="sm" fw={600} role="status">
            {count(rows.length)} selected
          </Text>
          {total && total.count > rows.length && rows.length < ROWS_MAX && (
            <Button variant="subtle" size="compact-sm" loading={busy} onClick={() => void selectAll()}>
              {total.count > ROWS_MAX
                ? `Select the first ${count(ROWS_MAX)} of this filter`
                : `Select all ${count(total.count)} of this filter`}
            </Button>
          )}
          {actions.map((one) => (
            <ActionButton key={one.label} action={one} rows={rows} onClick={() => setAction(one)} />
          ))}
          <Button variant="default" size="compact-sm" onClick={selection.clear}>
            Clear selection
          </Button>
        </Group>
      </Paper>
      {action && (
        <BulkDialog
          action={action as BulkAction<unknown>}
          rows={rows.filter(action.applies)}
          onDone={selection.clear}
          onClose={() => setAction(undefined)}
        />
      )}
    </>
  )
}

interface ActionButtonProps<Row> {
  readonly action: BulkAction<Row>
  readonly rows: readonly Row[]
  readonly onClick: () => void
}

/** Shows how many of the rows it applies to, where it does not apply to all. */
function ActionButton<Row>({ action, rows, onClick }: ActionButtonProps<Row>) {
  const { applies, danger, label } = action
  const fitting = rows.filter(applies).length
  return (
    <Button
      variant={danger ? 'light' : 'default'}
      {...(danger && { color: 'red' })}
      size="compact-sm"
      disabled={fitting === 0}
      onClick={onClick}
    >
      {fitting === rows.length || fitting === 0 ? label : `${label} ${count(fitting)}`}
    </Button>
  )
}
