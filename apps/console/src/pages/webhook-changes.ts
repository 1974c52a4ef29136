import { queryClient } from '../session.ts'

/** What hangs on an endpoint: the lists, the page, and its attempts. */
export const webhooksChanged = () =>
  Promise.all(
    ['webhooks', 'webhook-attempts'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
  )
