import { inEachTime, type Timeline } from '@svc/kernel/time'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'
import { closeDispute } from './close-dispute.ts'

const EVERY_MS = 1_000
const DISPUTES_A_SWEEP = 500

const OVERDUE = statement<{ merchant_id: string; dispute_id: string }>(
  'directory_disputes_overdue',
  `select * from directory_disputes_overdue(${timeAhead(1)}, $2, $3)`,
)

/** Disputes whose deadline has passed without evidence are lost, each with its event. Returns how many. */
export const expireDisputes = (services: CoreServices): Promise<number> =>
  inEachTime(services.clock, (timeline) => loseOverdue(services, timeline))

async function loseOverdue(
  { commands, database }: CoreServices,
  { tenantIds, clock }: Timeline,
): Promise<number> {
  const due = await database.directory(OVERDUE, [clock.offsetMs(), DISPUTES_A_SWEEP, tenantIds])
  const close = commands.open(closeDispute)
  const ended = await Promise.all(
    due.map(({ merchant_id: merchantId, dispute_id: disputeId }) =>
      close.run({ merchantId, disputeId, outcome: 'OVERDUE' }),
    ),
  )
  // Evidence may have come meanwhile.
  return ended.filter(({ isNew }) => isNew).length
}

/** Ends overdue disputes of every merchant. */
export const expireDisputesLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'expire_disputes',
      everyMs: EVERY_MS,
      work: async () => (await expireDisputes(services)) >= DISPUTES_A_SWEEP,
      atStart: true,
    },
    services,
  )
