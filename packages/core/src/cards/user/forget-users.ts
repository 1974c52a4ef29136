import { Failure } from '@svc/contract/errors'
import { inEachTime, type Timeline } from '@svc/kernel/time'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { type EraseUser, eraseUser } from './erase-user.ts'

const EVERY_MS = 3_600_000
const USERS_A_QUERY = 500
const DAY_MS = 86_400_000

const FORGOTTEN = statement<EraseUser>(
  'directory_users_forgotten',
  `select partner_id as "partnerId", user_id as "userId"
   from directory_users_forgotten(${timeAhead(1)}, $2, $3, $4)`,
)

/** In processes with the operators' login, which enters it in the audit: erases the users who have had no card for `USER_RETENTION_DAYS`; returns how many. */
export const forgetUsers = (services: CoreServices, stopping?: AbortSignal): Promise<number> =>
  services.config.USER_RETENTION_DAYS === 0 || !services.database.hasOperators
    ? Promise.resolve(0)
    : inEachTime(services.clock, (timeline) => forgetIn(services, timeline, stopping))

async function forgetIn(
  { commands, config, database }: CoreServices,
  { tenantIds, clock }: Timeline,
  stopping: AbortSignal | undefined,
): Promise<number> {
  const erase = commands.open(eraseUser)
  const aheadMs = clock.offsetMs() - config.USER_RETENTION_DAYS * DAY_MS
  let [after, erased] = ['', 0]
  while (!stopping?.aborted) {
    const forgotten = await database.directory(FORGOTTEN, [aheadMs, after, USERS_A_QUERY, tenantIds])
    const last = forgotten.at(-1)
    if (!last) break
    after = last.userId
    const outcomes = await Promise.all(
      forgotten.map(async (user) => {
        const audit = {
          actor: 'service',
          action: 'user.erased',
          target: user.userId,
          tenantId: user.partnerId,
        }
        try {
          return (await erase.run(user, { ...audit, details: { reason: 'retention' } })).isNew
        } catch (error) {
          // Money or coins are left: a later sweep finds them gone.
          if (error instanceof Failure && error.code === 'user_in_use') return false
          throw error
        }
      }),
    )
    erased += outcomes.filter(Boolean).length
  }
  return erased
}

export const forgetUsersLoop = (services: CoreServices): Loop => {
  const loop: Loop = new Loop(
    {
      name: 'forget_users',
      everyMs: EVERY_MS,
      work: async () => void (await forgetUsers(services, loop.stopping)),
      atStart: true,
    },
    services,
  )
  return loop
}
