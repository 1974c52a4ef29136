import { moveDueAddresses } from '@svc/core/tenants/merchant'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'

const EVERY_MS = 60_000

/** Payment addresses whose waiting time is over (decision O8). */
export const moveAddressesLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'move_addresses',
      everyMs: EVERY_MS,
      work: async () => {
        const { database } = services
        if (database.hasOperators)
          await database.operate(moveDueAddresses, 'read committed', { actor: 'service' })
      },
      atStart: true,
    },
    services,
  )
