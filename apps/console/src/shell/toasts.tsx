import { Notifications } from '@mantine/notifications'

/** Where short messages appear. */
export const Toasts = () => <Notifications position="bottom-right" />
