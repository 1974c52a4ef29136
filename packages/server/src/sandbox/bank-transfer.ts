import { fail } from '@svc/contract/errors'
import { BankCreditResponse } from '@svc/core/cards/account/bank-credit'
import { NoticeReceipt } from '@svc/core/rails/rail-notice'
import { sortableId } from '@svc/kernel/ids'
import { required } from '@svc/kernel/invariant'
import { paiseToWire } from '@svc/kernel/money'
import { Type } from 'typebox'
import { Rupees, readRupees } from '../http/fields.ts'
import { SIGNATURE_HEADER, signNotice } from '../http/notice-signature.ts'
import { query, succeed } from '../http/operation.ts'
import { UTR_PATTERN } from '../payments/upi-rail.ts'
import { railKeys } from '../rails/authenticate-rail.ts'

const NOTICES_MAX = 10
const PATH = '/rails/bank/credits'

const TransferRequest = Type.Object(
  {
    virtualAccountNumber: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'From the funding instructions of a card account',
    }),
    amount: Rupees({ minimum: 0.01, maximum: 1e10, description: 'Rupees, at most two decimals' }),
    remitterName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Default `Acme Industries`' }),
    ),
    remitterAccount: Type.Optional(
      Type.String({ minLength: 1, maxLength: 34, description: 'Default `000111222333`' }),
    ),
    mode: Type.Optional(Type.Enum(['NEFT', 'RTGS', 'IMPS'], { description: 'Default `NEFT`' })),
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
        description: 'Bank reference; a new one by default. Send a previous one to repeat that transfer',
      }),
    ),
  },
  { additionalProperties: false },
)

const TransferResult = Type.Object(
  {
    utr: Type.String(),
    notices: Type.Integer({ description: 'How often the transfer is notified' }),
    status: Type.Integer({ description: 'HTTP status of the bank rail: 202 for quarantine' }),
    response: Type.Union([BankCreditResponse, NoticeReceipt]),
  },
  { title: 'SandboxBankTransfer', additionalProperties: false },
)

/** The partner’s bank and ours, simulated: the transfer is notified over the bank rail, signed. */
export const transferFromBank = query({
  id: 'sandboxBankTransfer',
  method: 'POST',
  path: '/sandbox/bank/transfers',
  tag: 'Sandbox',
  summary: 'Transfer money to a card account',
  description:
    'Plays the bank: a transfer to a virtual account number is notified to `/rails/bank/credits` as a signed notice. A number that no card account has shows what quarantine is.',
  auth: 'none',
  envelope: 'response_code',
  sandboxOnly: true,
  body: TransferRequest,
  result: TransferResult,
  errors: [],

  mount(services) {
    const { clock, random } = services
    const send = async (notice: object) => {
      const body = Buffer.from(JSON.stringify(notice))
      const key = required(railKeys(services, 'bank')[0], 'the sandbox has a key of the bank rail')
      const signature = signNotice(body, key, clock.now())
      const headers = { 'content-type': 'application/json', [SIGNATURE_HEADER]: signature }
      const { status, body: text } = await services.selfCall({ method: 'POST', path: PATH, headers, body })
      if (status !== 200 && status !== 202) return fail('temporarily_unavailable', { retryAfterSeconds: 1 })
      return { status, response: (JSON.parse(text) as { payload: unknown }).payload }
    }
    return async ({ body }) => {
      const {
        virtualAccountNumber: virtualAccount,
        amount,
        remitterName = 'Acme Industries',
        remitterAccount = '000111222333',
        mode = 'NEFT',
        duplicates = 0,
        utr = `SBXB${sortableId(clock.now(), random)}`.toUpperCase(),
      } = body
      const rupees = paiseToWire(readRupees('amount', amount))
      const notice = { utr, virtualAccount, amount: rupees, remitterName, remitterAccount, mode }
      let sent = await send(notice)
      for (let i = 0; i < duplicates; i++) sent = await send(notice)
      return { body: succeed({ utr, notices: duplicates + 1, ...sent }) }
    }
  },
})
