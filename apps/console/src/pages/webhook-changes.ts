import { queryClient } from '../session.ts'
import { newIdempotencyKey } from '../words.ts'

/** What hangs on an endpoint: the lists, the page, and its attempts. */
export const webhooksChanged = () =>
  Promise.all(
    ['webhooks', 'webhook-attempts'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
  )

/** To be sent with the form of each change: a repeat after a lost response does nothing twice. */
export const once = () => ({ 'idempotency-key': newIdempotencyKey() })
