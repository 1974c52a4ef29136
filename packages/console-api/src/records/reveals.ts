import { failField } from '@svc/contract/fail-fields'
import { required } from '@svc/kernel/invariant'
import { rfc3339 } from '@svc/kernel/time'
import { recordAudit } from '@svc/platform/audit'
import { statement } from '@svc/platform/db/statement'
import { type Caller, query, type Services } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, reasonText, record, text } from '../console-schema.ts'
import { permits, type Role } from '../identity/permissions.ts'

const REVEALED_MINUTES = 15
const REVEALED_MS = REVEALED_MINUTES * 60_000
/** Users, cards, QR codes, payments, notices of transfers, and webhook endpoints with what was sent to them. */
const REVEALABLE = /^(?:usr|card|qr|pay|rnt|whe)_/

const FIND = statement(
  'personal_data_reveal_find',
  'select from personal_data_reveals where operator_id = $1 and object_id = any ($2) and revealed_at > $3',
)
const SAVE = statement(
  'personal_data_reveal_save',
  `insert into personal_data_reveals (operator_id, object_id, revealed_at) values ($1, $2, $3)
   on conflict (operator_id, object_id) do update set revealed_at = excluded.revealed_at`,
)
const FORGET = statement(
  'personal_data_reveal_forget',
  'delete from personal_data_reveals where operator_id = $1 and revealed_at <= $2',
)

const actorIdOf = ({ actor }: Caller): string => required(actor, 'operators call').actorId

/** Whether the role of the calling operator permits it to reveal personal data. */
export const mayReveal = ({ actor }: Caller): boolean =>
  permits(required(actor, 'operators call').role as Role, 'reveal')

/** Whether the calling operator has revealed the personal data of what the path names, and still may. */
export async function isRevealed(
  { clock, database }: Services,
  { caller, params }: { readonly caller: Caller; readonly params: unknown },
): Promise<boolean> {
  const ids = Object.values((params ?? {}) as Record<string, string>)
  if (ids.length === 0 || !mayReveal(caller)) return false
  const since = new Date(clock.now() - REVEALED_MS)
  const found = await database.operate((tx) => tx.query(FIND, [actorIdOf(caller), ids, since]))
  return found.length > 0
}

export const revealPersonalData = query({
  ...consoleOperation,
  id: 'console.revealPersonalData',
  method: 'POST',
  path: `${CONSOLE_API}/personal-data/reveals`,
  tag: 'Personal data',
  summary: 'Reveal the personal data of an object',
  description: `For ${REVEALED_MINUTES} minutes the record of the user, card, QR code, payment or notice, or what was sent to the webhook endpoint, is returned unmasked to this operator. The audit has who revealed what, and why.`,
  permission: 'reveal',
  body: closed({
    objectId: Type.String({ minLength: 1, maxLength: 128 }),
    reason: reasonText(),
  }),
  result: record('Reveal', { objectId: text(), until: text('RFC 3339 with milliseconds and zone offset') }),
  errors: [],
  mount(services) {
    const { clock, config } = services
    return async (input) => {
      const { objectId, reason } = input.body
      if (!REVEALABLE.test(objectId))
        failField(
          'objectId',
          'format',
          'must be the id of a user, card, QR code, payment, notice or webhook endpoint',
        )
      const now = clock.now()
      const operatorId = actorIdOf(input.caller)
      await asOperator(services, input, async (tx) => {
        await tx.query(FORGET, [operatorId, new Date(now - REVEALED_MS)])
        await tx.query(SAVE, [operatorId, objectId, new Date(now)])
        recordAudit(tx, [{ action: 'personal_data.revealed', target: objectId, details: { reason } }])
      })
      const until = rfc3339(new Date(now + REVEALED_MS), config.BUSINESS_TIME_ZONE)
      return { body: JSON.stringify({ objectId, until }) }
    }
  },
})
