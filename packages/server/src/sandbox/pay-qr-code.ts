import { fail } from '@svc/contract/errors'
import { failField, failFields } from '@svc/contract/fail-fields'
import { fieldError } from '@svc/contract/field-errors'
import { PaymentResponse } from '@svc/core/payments/payment'
import { sortableId } from '@svc/kernel/ids'
import { readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { parseUpiUri, VPA_PATTERN } from '@svc/upi-qr/upi-uri'
import { Type } from 'typebox'
import { Rupees, readRupees } from '../http/fields.ts'
import { query, succeed } from '../http/operation.ts'
import { TR_CHARS_MAX, UTR_PATTERN } from '../payments/upi-rail.ts'
import { behaviourOf } from './magic.ts'
import { newNotice, UpiSwitch } from './upi-switch.ts'

const DELAY_MS_MAX = 3_600_000
const NOTICES_MAX = 10
/** Most that a notice of the rail may carry. */
const RUPEES_MAX = 1e10
const CARRIED_TR = new RegExp(`^[\\x21-\\x7e]{1,${TR_CHARS_MAX}}$`)

const PayRequest = Type.Object(
  {
    upi: Type.Optional(
      Type.String({ maxLength: 7_089, description: 'What the payer’s app scanned: `upi://pay?…`' }),
    ),
    qrCodeId: Type.Optional(Type.String({ description: 'Or the code itself' })),
    amount: Type.Optional(
      Rupees({
        minimum: 0.01,
        maximum: RUPEES_MAX,
        description: 'Rupees; by default the amount in the code',
      }),
    ),
    payerVpa: Type.Optional(
      Type.String({
        maxLength: 255,
        pattern: VPA_PATTERN,
        'x-rule': 'must be a virtual payment address, name@handle',
        description: 'Default `payer@sandbox`',
      }),
    ),
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: DELAY_MS_MAX,
        description: 'Hold the bank’s notice back for so long',
      }),
    ),
    duplicates: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: NOTICES_MAX - 1,
        description: 'Send the same notice so many times more',
      }),
    ),
    utr: Type.Optional(
      Type.String({
        pattern: UTR_PATTERN,
        'x-rule': 'must be 6 to 35 letters and digits',
        description: 'Bank reference; a new one by default. Send a previous one to repeat that credit',
      }),
    ),
  },
  { additionalProperties: false },
)

const PayResult = Type.Object(
  {
    outcome: Type.Enum(['NOTIFIED', 'HELD', 'DECLINED'], {
      description:
        'The bank’s notice was sent, is held back, or there is none because the payer’s bank declined',
    }),
    utr: Type.String(),
    notices: Type.Integer({ description: 'How often the credit is notified' }),
    dueOn: Type.Optional(Type.String({ description: 'When a held notice goes out' })),
    payment: Type.Optional(PaymentResponse),
  },
  { additionalProperties: false },
)

const STRINGS = statement<{ upi_uri: string }>(
  'sandbox_qr_string',
  'select upi_uri from qr_codes where qr_code_id = $1',
)

/** The payer’s phone and bank, simulated: what it pays goes the way a real credit goes, through the UPI rail. */
export const payQrCode = query({
  id: 'sandboxPay',
  method: 'POST',
  path: '/sandbox/upi/pay',
  tag: 'Sandbox',
  summary: 'Pay a UPI QR code',
  description:
    'Plays the payer: give the scanned string or the `qrCodeId`. A credit that the code cannot take is refunded at once. Amounts and payers with special behaviour are listed in the sandbox reference.',
  auth: 'none',
  envelope: 'response_code',
  sandboxOnly: true,
  body: PayRequest,
  result: PayResult,
  errors: ['qr_code_not_found', 'utr_conflict'],

  mount(services) {
    const { clock, config, database, random } = services
    const upiSwitch = new UpiSwitch(services)
    const stringOf = async (qrCodeId: string) => {
      const [row] = await database.operate((tx) => tx.query(STRINGS, [qrCodeId]))
      return row?.upi_uri ?? fail('qr_code_not_found')
    }
    return async ({ body }) => {
      if ((body.upi === undefined) === (body.qrCodeId === undefined))
        failFields(
          fieldError('upi', 'exactly_one', 'or qrCodeId is required, not both'),
          fieldError('qrCodeId', 'exactly_one', 'or upi is required, not both'),
        )
      const scanned = parseUpiUri(body.upi ?? (await stringOf(body.qrCodeId!)))
      if (!scanned) return failField('upi', 'format', 'must be a upi://pay string with pa and pn')
      // A reference that no rail would carry fits no code.
      const tr = CARRIED_TR.test(scanned.tr ?? '') ? scanned.tr! : 'none'
      const amount = readRupees('amount', body.amount) ?? valueIn(readAmount(scanned.am ?? ''))
      if (!amount) return failField('amount', 'required', 'is required, because the code has no amount')
      if (amount > BigInt(RUPEES_MAX) * 100n)
        return failField('upi', 'maximum', `must have an amount of at most ${RUPEES_MAX}`)
      const { payerVpa = 'payer@sandbox', utr = `SBX${sortableId(clock.now(), random)}`.toUpperCase() } = body
      const magic = behaviourOf(amount, payerVpa)
      if (magic.declined) return { body: succeed({ outcome: 'DECLINED', utr, notices: 0 }) }
      const notice = newNotice(utr, { tr, pa: scanned.pa }, amount, payerVpa)
      const notices = body.duplicates === undefined ? (magic.notices ?? 1) : body.duplicates + 1
      const delayMs = body.delayMs ?? magic.delayMs ?? 0
      if (delayMs > 0) {
        await upiSwitch.hold(notice, delayMs, notices)
        const dueOn = rfc3339(new Date(clock.now() + delayMs), config.BUSINESS_TIME_ZONE)
        return { body: succeed({ outcome: 'HELD', utr, notices, dueOn }) }
      }
      let payment = await upiSwitch.deliver(notice)
      for (let sent = 1; sent < notices; sent++) payment = await upiSwitch.deliver(notice)
      return { body: succeed({ outcome: 'NOTIFIED', utr, notices, payment }) }
    }
  },
})
