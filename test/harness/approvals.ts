import { WaitingApproval } from '@svc/core/ledger/money-command'
import { approvePosting } from '@svc/server/approvals/approve-posting'
import { type Browser, signedIn } from './console.ts'
import type { TestPartner } from './partner.ts'
import { asSuperuser, openService, type TestService } from './service.ts'

/** Two processes on one database, which post at most 1,000 rupees without approval, and two who may approve. */
export async function openApprovers(more: Readonly<Record<string, string>> = {}) {
  const env = { APPROVAL_ABOVE_RUPEES: '1000', ...more }
  const service = await openService({ env, background: false })
  const other = await openService({ env, background: false, db: service.db })
  const [asha, ravi] = [await signedIn(service, 'operator'), await signedIn(service, 'operator')]
  return { service, other, asha, ravi }
}

let references = 0
export const newReference = (): string => `HDFC${String(++references).padStart(8, '0')}`

export const sqlOn = <T>({ db }: TestService, text: string, values: unknown[] = []): Promise<T[]> =>
  asSuperuser(db.database, async (client) => (await client.query(text, values)).rows as T[])

export const fund = (
  by: Browser,
  { cardAccountId }: TestPartner,
  amount: string,
  reference = newReference(),
) => by.post(`/card-accounts/${cardAccountId}/funds`, { amount, reference, reason: 'April float' })

/** Commanded by one person, and approved by another one where it waits. */
export async function byTwo({ app }: TestService, outcome: unknown): Promise<void> {
  if (!(outcome instanceof WaitingApproval)) return
  await approvePosting(app.services, outcome.approval.approvalId, { actor: 'operator ravi' })
}

export const approve = (by: Browser, approvalId: string) => by.post(`/approvals/${approvalId}/approve`, {})

/** What is on the card account, in paise. */
export async function fundsOf(on: TestService, { cardAccountId }: TestPartner): Promise<string> {
  const text = 'select balance from ledger_accounts where account_id = $1'
  return (await sqlOn<{ balance: string }>(on, text, [`card_funding:${cardAccountId}`]))[0]!.balance
}

export async function journalIdOf(
  on: TestService,
  { partnerId }: TestPartner,
  reference: string,
): Promise<string> {
  const text = 'select journal_id as id from journals where tenant_id = $1 and reference = $2'
  return (await sqlOn<{ id: string }>(on, text, [partnerId, reference]))[0]!.id
}
