import { Button, Group, Modal, ScrollArea, Stack, Table, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { type BulkAction, type BulkItem, type ItemState, itemsOf, runItems } from '../bulk.ts'
import { count } from './money.tsx'
import { notifyUndo } from './notify-undo.tsx'
import { Mark } from './status-badge.tsx'

interface BulkDialogProps {
  readonly action: BulkAction<unknown>
  readonly rows: readonly unknown[]
  /** Every row is done. */
  readonly onDone: () => void
  readonly onClose: () => void
}

/** The items of an action with their states, and what runs those that are not done. */
function useBulkRun({ action, rows, onDone, onClose }: BulkDialogProps) {
  // The rows of the list change while the action runs.
  const [items, setItems] = useState(() => itemsOf(rows))
  const [phase, setPhase] = useState<'asking' | 'running' | 'over'>('asking')
  const act = async (written: string) => {
    setPhase('running')
    let latest = items
    await runItems(
      items,
      ({ row, key }) => action.run(row, written, key),
      (key, state) => {
        latest = latest.map((item) => (item.key === key ? { ...item, state } : item))
        setItems(latest)
      },
    )
    await action.changed()
    const done = latest.filter(({ state }) => state.state === 'done')
    setPhase('over')
    if (done.length > 0) offerUndo(action, done)
    if (done.length === latest.length) {
      onDone()
      onClose()
    }
  }
  return { act, items, phase }
}

/** Asks once, runs the command of each row, and shows how it went with each. */
export function BulkDialog(props: BulkDialogProps) {
  const { action, onClose } = props
  const { label, confirm, danger = false, says, text } = action
  const { act, items, phase } = useBulkRun(props)
  const [written, setWritten] = useState('')
  const failures = items.filter(({ state }) => state.state === 'failed')
  const ready = phase !== 'running' && (!text || written.trim() !== '')
  return (
    <Modal
      opened
      onClose={phase === 'running' ? () => undefined : onClose}
      title={`${label}: ${count(items.length)}`}
      size="lg"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) void act(written.trim())
        }}
      >
        <Stack>
          <Text size="sm" component="div">
            {says}
          </Text>
          {text && (
            <TextInput
              label={text.label}
              description="Stored with each change, for later questions"
              required
              maxLength={text.maxLength}
              data-autofocus
              disabled={phase !== 'asking'}
              value={written}
              onChange={(event) => setWritten(event.currentTarget.value)}
            />
          )}
          <Results action={action} items={items} />
          {phase === 'over' && (
            <Text size="sm" role="status">
              {count(items.length - failures.length)} done, {count(failures.length)} failed.
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={phase === 'running'}>
              Close
            </Button>
            <Button
              type="submit"
              {...(danger && { color: 'red' })}
              loading={phase === 'running'}
              disabled={!ready}
            >
              {phase === 'over' ? 'Try the failed ones again' : confirm}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

const STATES: Readonly<Record<ItemState['state'], readonly [label: string, color: string]>> = {
  waiting: ['Not begun', 'gray'],
  running: ['In progress', 'blue'],
  done: ['Done', 'teal'],
  failed: ['Failed', 'red'],
}

function Results({ action, items }: { action: BulkAction<unknown>; items: readonly BulkItem<unknown>[] }) {
  return (
    <ScrollArea.Autosize mah={260} viewportProps={{ tabIndex: 0, 'aria-label': 'Rows', role: 'group' }}>
      <Table verticalSpacing={4} aria-label="Result of each row">
        <Table.Tbody>
          {items.map(({ key, row, state }) => (
            <Table.Tr key={key}>
              <Table.Td>{action.nameOf(row)}</Table.Td>
              <Table.Td ta="right">
                <Mark color={STATES[state.state][1]}>{STATES[state.state][0]}</Mark>
                {state.state === 'failed' && (
                  <Text size="xs" c="dimmed">
                    {state.reason}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  )
}

/** Says what was done and, where it can be taken back, offers that. */
function offerUndo({ changed, label, undo }: BulkAction<unknown>, done: readonly BulkItem<unknown>[]): void {
  const said = `${label}: ${count(done.length)} done.`
  if (!undo) return void notifications.show({ color: 'teal', message: said })
  const items = itemsOf(done.map(({ row }) => row))
  notifyUndo(said, async () => {
    let failed = 0
    await runItems(
      items,
      ({ row, key }) => undo(row, key),
      (_, { state }) => void (state === 'failed' && failed++),
    )
    await changed()
    return `Undone: ${count(items.length - failed)}${failed > 0 ? `, failed: ${count(failed)}` : ''}.`
  })
}
