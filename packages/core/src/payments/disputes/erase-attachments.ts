import { inEachTime, type Timeline } from '@svc/kernel/time'
import { timeAhead } from '@svc/platform/db/database-time'
import { statement } from '@svc/platform/db/statement'
import { Loop } from '@svc/platform/loop'
import type { CoreServices } from '@svc/platform/services'

const EVERY_MS = 3_600_000
const AT_ONCE = 100
const DAY_MS = 86_400_000

const ERASE = statement<{ erased: string }>(
  'dispute_attachments_erase',
  `with old as materialized (
     select b.merchant_id, b.attachment_id from dispute_attachments b
       join disputes d on d.merchant_id = b.merchant_id and d.dispute_id = b.dispute_id
     where b.erased_at is null and d.closed_at < ${timeAhead(1)}
       and ($2::text[] is null or b.merchant_id = any ($2))
     limit $3 for update of b skip locked)
   update dispute_attachments a set content = null, name = null, erased_at = clock_timestamp()
   from old where a.merchant_id = old.merchant_id and a.attachment_id = old.attachment_id
   returning a.attachment_id as erased`,
)

/** In processes with the operators' login: erases files of disputes that ended `DISPUTE_ATTACHMENT_DAYS` ago; returns how many. */
export const eraseAttachments = (services: CoreServices): Promise<number> =>
  services.database.hasOperators
    ? inEachTime(services.clock, (timeline) => eraseIn(services, timeline))
    : Promise.resolve(0)

async function eraseIn({ config, database }: CoreServices, { tenantIds, clock }: Timeline): Promise<number> {
  const aheadMs = clock.offsetMs() - config.DISPUTE_ATTACHMENT_DAYS * DAY_MS
  const erased = await database.operate((tx) => tx.query(ERASE, [aheadMs, tenantIds, AT_ONCE]))
  return erased.length
}

export const eraseAttachmentsLoop = (services: CoreServices): Loop =>
  new Loop(
    {
      name: 'erase_attachments',
      everyMs: EVERY_MS,
      work: async () => (await eraseAttachments(services)) >= AT_ONCE,
      atStart: true,
    },
    services,
  )
