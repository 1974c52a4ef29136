import { reverseJournal } from '@svc/core/cards/account/reverse-posting'
import { withdrawFunds } from '@svc/core/cards/account/withdraw-funds'
import { carriedOut } from '@svc/core/ledger/money-command'
import { paise } from '@svc/kernel/money'
import { expect } from 'vitest'
import { byTwo, journalIdOf } from './approvals.ts'
import { type ApiResponse, type Client, type Json, payloadOf } from './client.ts'
import { operatorsOf } from './operators.ts'
import type { TestPartner } from './partner.ts'
import { asPartner } from './partner.ts'
import { asSuperuser, BANK_RAIL_KEY, type TestService } from './service.ts'

export const BANK_CREDITS = '/rails/bank/credits'

let utrs = 0
/** A reference of the bank that no transfer before had. */
export const newTransferUtr = (): string => `NEFT${Date.now()}${String(++utrs).padStart(4, '0')}`

export const instructionsOf = async (client: Client, cardAccountId: string): Promise<Json> =>
  payloadOf(await client.get(`/api/v0/partner/card-accounts/${cardAccountId}/funding-instructions`))

/** The number of a partner's card account, as the partner reads it. */
export async function numberOf(service: TestService, partner: TestPartner): Promise<string> {
  const client = await asPartner(service.client, partner)
  return (await instructionsOf(client, partner.cardAccountId)).virtualAccountNumber
}

export const transferTo = (virtualAccount: string, fields: object = {}) => ({
  utr: newTransferUtr(),
  virtualAccount,
  amount: 1_000,
  remitterName: 'Acme Industries Private Limited',
  remitterAccount: '912010012345678',
  mode: 'NEFT',
  ...fields,
})

export const notifyTransfer = (client: Client, notice: object): Promise<ApiResponse> =>
  client.notify(BANK_CREDITS, notice, BANK_RAIL_KEY)

/** What is on a card account, in paise, and how often its balance was moved. */
export async function fundsOf(
  service: TestService,
  { cardAccountId }: Pick<TestPartner, 'cardAccountId'>,
): Promise<{ balance: string; entries: number }> {
  return asSuperuser(service.db.database, async (db) => {
    const { rows } = await db.query<{ balance: string; entries: number }>(
      `select a.balance::text, (select count(*)::int from ledger_transfers t
         where a.account_id in (t.debit_account_id, t.credit_account_id)) as entries
       from ledger_accounts a where a.account_id = $1`,
      [`card_funding:${cardAccountId}`],
    )
    expect(rows).toHaveLength(1)
    return rows[0]!
  })
}

/** What an operator paid back to a partner. */
export const withdraw = async (
  { app }: TestService,
  { partnerId, cardAccountId }: Pick<TestPartner, 'partnerId' | 'cardAccountId'>,
  amountPaise: bigint,
  reference = newTransferUtr(),
  actor = 'asha',
) =>
  carriedOut(
    await operatorsOf(app.services.commands)
      .open(withdrawFunds)
      .run(
        { partnerId, cardAccountId, amountPaise: paise(amountPaise), reference, reason: 'contract ended' },
        { actor, action: 'card_account.withdrawn', target: cardAccountId, tenantId: partnerId },
      ),
  )

/** An operator takes back what was entered under this reference. */
export async function reverseEntry(on: TestService, partner: TestPartner, reference: string) {
  const { partnerId: tenantId } = partner
  const journalId = await journalIdOf(on, partner, reference)
  const outcome = await operatorsOf(on.app.services.commands)
    .open(reverseJournal)
    .run({ tenantId, journalId, reason: 'typed wrongly' }, { actor: 'asha', target: journalId })
  await byTwo(on, outcome)
}

/** Why a notice went to quarantine. */
export const quarantined = ({ status, json }: ApiResponse): string => {
  expect([status, json.payload.status]).toEqual([202, 'QUARANTINED'])
  return json.payload.reason
}
