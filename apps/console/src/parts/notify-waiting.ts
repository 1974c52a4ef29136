import { notifications } from '@mantine/notifications'
import { rupees } from './money.tsx'

/** Says that a posting above the limit is not made yet. */
export const notifyWaiting = (amount: string): void => {
  notifications.show({
    color: 'yellow',
    message: `${rupees(amount)} waits for a second person, under Approvals.`,
  })
}
