import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { asCallFailed } from '../failure.ts'

const UNDO_MS = 15_000

/** Says what was done, and offers to take it back for a while; `undo` resolves to what is said then. */
export function notifyUndo(done: string, undo: () => Promise<string>): void {
  const take = async () => {
    notifications.hide(id)
    try {
      notifications.show({ color: 'teal', message: await undo() })
    } catch (error) {
      notifications.show({ color: 'red', message: asCallFailed(error).message })
    }
  }
  const id = notifications.show({
    color: 'teal',
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <span>{done}</span>
        <Button size="compact-sm" variant="default" onClick={() => void take()}>
          Undo
        </Button>
      </Group>
    ),
  })
}
