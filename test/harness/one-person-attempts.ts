import { insertCardAccount } from '@svc/core/cards/account/card-account'
import { fundAccount } from '@svc/core/cards/account/fund-account'
import { enterOpeningBalance } from '@svc/core/ledger/enter-opening-balance'
import { financialYear } from '@svc/core/payments/fees/gst'
import { issueCreditNote } from '@svc/core/payments/fees/issue-credit-note'
import { issueDebitNote } from '@svc/core/payments/fees/issue-debit-note'
import { moveOwnFunds } from '@svc/core/payments/own-funds/move-own-funds'
import { takeBackOwnFunds } from '@svc/core/payments/own-funds/take-back-own-funds'
import { changePayout } from '@svc/core/payments/payouts/change-payout'
import { completeRefund } from '@svc/core/payments/refunds/complete-refund'
import { sendRefund } from '@svc/core/payments/refunds/send-refund'
import { resolveSuspense } from '@svc/core/payments/suspense/resolve-suspense'
import { enterTdsCertificate } from '@svc/core/payments/tds/enter-certificate'
import { paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import { byTwo, fund, journalIdOf, newReference, sqlOn } from './approvals.ts'
import { importLines } from './bank-statements.ts'
import { Terminal } from './card-rail.ts'
import { payloadOf } from './client.ts'
import type { Browser } from './console.ts'
import { newDispute, utrOf } from './disputes.ts'
import { newTaxDocument } from './invoices.ts'
import { operatorsOf } from './operators.ts'
import { asPartner, createCard, newPartner, type TestPartner } from './partner.ts'
import { giveAccount, giveFee, sendPayoutOf } from './payouts.ts'
import { creditOf, newCode, newUtr, notifyCredit } from './qr-codes.ts'
import { newShop } from './refunds.ts'
import { RAIL_KEY, type TestService } from './service.ts'
import { exceptionsOf, settle } from './settled-outside.ts'
import { transferFile } from './settlements.ts'

/** One person, in a browser and as commands name them. */
export interface Insider {
  readonly browser: Browser
  readonly actor: string
}

/** A step of an insider, which would move an amount. */
export type Step = (by: Insider) => Promise<unknown>

/**
 * Prepares, of one tenant, what an insider could move in as many steps as there are amounts, in rupees. Signed messages,
 * two people or the tenant itself have entered what it needs.
 */
export type Attempt = (on: TestService, amounts: readonly number[]) => Promise<readonly Step[]>

const reason = 'asked for by letter'
/** What names a file that a person imports, whoever wrote it. */
const FILE = 'ab'.repeat(32)
const today = () => calendarDay(new Date(), 'Asia/Kolkata')
const rupees = (amount: number) => paise(BigInt(Math.round(amount * 100)))
const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

const MAYA = { actor: 'operator maya', target: 'attempts' }

async function fundByTwo(on: TestService, partner: TestPartner, amount: number): Promise<string> {
  const { partnerId, cardAccountId } = partner
  const reference = newReference()
  const args = { partnerId, cardAccountId, amountPaise: rupees(amount), reference, reason }
  await byTwo(on, await on.app.services.commands.open(fundAccount).run(args, MAYA))
  return reference
}

async function fundedPartner(on: TestService, amount: number, more: object = {}): Promise<TestPartner> {
  const partner = await newPartner(on, { fundsPaise: 0n, ...more })
  // Two people: one at once above the limit.
  await fundByTwo(on, partner, Math.max(amount, 1_000.01))
  return partner
}

/** A merchant with one payment for each amount, which is twice as much. */
async function paidShop(on: TestService, amounts: readonly number[], times = 1) {
  const shop = await newShop(on)
  const { tr } = await newCode(on, shop.client, { multipleUse: true })
  const paymentIds: string[] = []
  for (const amount of amounts)
    paymentIds.push(
      payloadOf(await notifyCredit(on.client, creditOf(tr, { amount: amount * times }))).paymentId,
    )
  return { ...shop, tr, paymentIds }
}

async function strayCredit(on: TestService, amount: number): Promise<string> {
  const credit = creditOf('NOSUCHCODE', { utr: newUtr(), amount })
  return payloadOf(await notifyCredit(on.client, credit)).paymentId
}

/** A merchant that was charged fees by an invoice. */
async function invoiced(on: TestService, fee: number) {
  const { client, merchantId } = await newShop(on)
  await giveAccount(on, merchantId, '29')
  await giveFee(on, merchantId, { basisPoints: 1_000 })
  const { tr } = await newCode(on, client, { multipleUse: true })
  return { merchantId, invoice: await newTaxDocument(on, { merchantId, tr }, fee * 10) }
}

async function reloadableCard(on: TestService, funds: number, balance: number) {
  const partner = await fundedPartner(on, funds, { accountType: 'MEAL' })
  const issuer = await asPartner(on.client, partner)
  payloadOf(
    await issuer.patch(`/api/v0/partner/card-accounts/${partner.cardAccountId}`, {
      unallocateFundAllowed: true,
    }),
  )
  const { svcCardId } = payloadOf(await createCard(issuer, partner))
  if (balance > 0)
    payloadOf(
      await issuer.post(`/api/v0/partner/svcCard/${svcCardId}/loads`, {
        amount: balance,
        referenceNumber: newUtr(),
      }),
    )
  return svcCardId as string
}

const capital = (amount: number, reference: string) => ({
  kind: 'CAPITAL' as const,
  amountPaise: rupees(amount),
  reference,
  reason,
})

/** By the name of the command. */
export const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  async fundAccount(on, amounts) {
    const partner = await newPartner(on, { fundsPaise: 0n })
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          fund(browser, partner, amount.toFixed(2)),
    )
  },
  async withdrawFunds(on, amounts) {
    const { cardAccountId } = await fundedPartner(on, sum(amounts))
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          browser.post(`/card-accounts/${cardAccountId}/withdrawals`, {
            amount: amount.toFixed(2),
            reference: newReference(),
            reason,
          }),
    )
  },
  async reverseJournal(on, amounts) {
    const partner = await newPartner(on, { fundsPaise: 0n })
    const journals: string[] = []
    for (const amount of amounts)
      journals.push(await journalIdOf(on, partner, await fundByTwo(on, partner, amount)))
    return journals.map(
      (journalId) =>
        ({ browser }) =>
          browser.post(`/ledger/journals/${journalId}/reverse`, { reason }),
    )
  },
  async enterOpeningBalance(on, amounts) {
    const { companyId, partnerId } = await newPartner(on, { fundsPaise: 0n })
    const { database, random } = on.app.services
    const plan = { product: 'incentive', accountType: 'GIFT', binType: 'GIFT', programme: 'Gifts' } as const
    const accounts = await database.operate(async (tx) =>
      amounts.map(() =>
        insertCardAccount(tx, random, { partnerId, companyId, ...plan, denominationPaise: 500_00n }),
      ),
    )
    return accounts.map(
      (cardAccountId, i) =>
        ({ actor }) =>
          on.app.services.commands.open(enterOpeningBalance).run(
            {
              tenantId: partnerId,
              kind: 'card_funding',
              ownerId: cardAccountId,
              amountPaise: rupees(amounts[i]!),
              effectiveDate: today(),
              reference: newReference(),
              reason,
            },
            { actor, target: partnerId },
          ),
    )
  },
  async settleBalance(on, amounts) {
    const partner = await fundedPartner(on, 500)
    const client = await asPartner(on.client, partner)
    const { token } = payloadOf(await createCard(client, partner))
    await new Terminal(on.client, token).advise('forced_post', 500 + sum(amounts))
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          settle(browser, exceptionsOf(partner), { amount: amount.toFixed(2) }),
    )
  },
  async resolveLine(on, amounts) {
    const lines = await sqlOn<{ id: string; paise: string }>(
      on,
      `select line_id as id, amount_paise::text as paise from statement_lines
       where status = 'UNMATCHED' order by line_id`,
    )
    if (lines.length === 0) {
      await importLines(
        on,
        [3_000, 400, 400, 400, 400].map((amount) => -amount * 100),
      )
      return ATTEMPTS['resolveLine']!(on, amounts)
    }
    const left = [...lines]
    const ids = amounts.map((amount) => {
      const at = left.findIndex(({ paise: of }) => of === String(-amount * 100))
      return left.splice(at, 1)[0]!.id
    })
    return ids.map(
      (lineId) =>
        ({ browser }) =>
          browser.post(`/statement-lines/${lineId}/resolve`, { as: 'charge', reason }),
    )
  },
  async recordBatch(_, amounts) {
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          browser.post(
            '/settlements',
            transferFile(newUtr(), [{ kind: 'charge', amount: (-amount).toFixed(2) }]),
          ),
    )
  },
  async reverseBatch(on, amounts) {
    const shop = await paidShop(on, amounts)
    const batches: string[] = []
    for (const [i, amount] of amounts.entries()) {
      const line = {
        kind: 'payment',
        reference: await utrOf(on, shop.paymentIds[i]!),
        amount: amount.toFixed(2),
      }
      const batch = { batchUtr: newUtr(), valueDate: today(), netAmount: amount.toFixed(2), lines: [line] }
      batches.push(payloadOf(await on.client.notify('/rails/upi/settlements', batch, RAIL_KEY)).batchId)
    }
    return batches.map(
      (batchId) =>
        ({ browser }) =>
          browser.post(`/settlements/${batchId}/reverse`, { reason }),
    )
  },
  async moveOwnFunds(on, amounts) {
    return amounts.map(
      (amount) =>
        ({ actor }) =>
          on.app.services.commands.open(moveOwnFunds).run(capital(amount, newReference()), {
            actor,
            target: 'house',
          }),
    )
  },
  async takeBackOwnFunds(on, amounts) {
    const references: string[] = []
    for (const amount of amounts) {
      const reference = newReference()
      references.push(reference)
      const { commands } = on.app.services
      await byTwo(on, await commands.open(moveOwnFunds).run(capital(amount, reference), MAYA))
    }
    return references.map(
      (reference) =>
        ({ actor }) =>
          on.app.services.commands
            .open(takeBackOwnFunds)
            .run({ reference, reason }, { actor, target: 'house' }),
    )
  },
  async enterTdsCertificate(on, amounts) {
    const { invoice, merchantId } = await invoiced(on, sum(amounts) * 3)
    const quarter = `20${financialYear(invoice.month)}-Q1`
    const payoutId = await sendPayoutOf(on, merchantId)
    await operatorsOf(on.app.services.commands)
      .open(changePayout)
      .run({ merchantId, payoutId, step: { to: 'PAID', utr: newUtr() } })
    return amounts.map(
      (amount, i) =>
        ({ actor }) =>
          on.app.services.commands.open(enterTdsCertificate).run(
            {
              merchantId,
              number: `ATTEMP${String.fromCharCode(65 + i)}`,
              quarter,
              amountPaise: rupees(amount),
              datedOn: today(),
              reason,
            },
            { actor, target: merchantId },
          ),
    )
  },
  async issueCreditNote(on, amounts) {
    const { invoice } = await invoiced(on, sum(amounts))
    return amounts.map(
      (amount, i) =>
        ({ actor }) =>
          on.app.services.commands
            .open(issueCreditNote)
            // What moves is the fee with its tax, and two notes of one fee are the same.
            .run(
              { number: invoice.number, feePaise: rupees(amount / 1.18 - i / 100), reason: `${reason} ${i}` },
              { actor, target: invoice.documentId },
            ),
    )
  },
  async issueDebitNote(on, amounts) {
    const { invoice, merchantId } = await invoiced(on, sum(amounts))
    const { commands } = on.app.services
    for (const [i, amount] of amounts.entries()) {
      const note = {
        number: invoice.number,
        feePaise: rupees(amount / 1.18 - i / 100),
        reason: `${reason} ${i}`,
      }
      await byTwo(on, await commands.open(issueCreditNote).run(note, MAYA))
    }
    const notes = await sqlOn<{ number: string }>(
      on,
      `select number from tax_documents where merchant_id = $1 and kind = 'CREDIT_NOTE' order by number`,
      [merchantId],
    )
    return notes.map(
      ({ number }) =>
        ({ actor }) =>
          commands.open(issueDebitNote).run({ number, reason }, { actor, target: number }),
    )
  },
  async acceptPayment(on, amounts) {
    const shop = await newShop(on)
    const { tr } = await newCode(on, shop.client, { multipleUse: true })
    const notices: string[] = []
    for (const _ of amounts) {
      const { json } = await on.client.notify('/rails/upi/credits', { words: newUtr() }, RAIL_KEY)
      notices.push(json.payload.noticeId)
    }
    return amounts.map(
      (amount, i) =>
        ({ browser }) =>
          browser.post(`/rail-notices/${notices[i]}/assign`, { utr: newUtr(), amount, tr }),
    )
  },
  async adjustPayment(on, amounts) {
    const { paymentIds } = await paidShop(on, amounts, 2)
    return amounts.map(
      (amount, i) =>
        ({ browser }) =>
          browser.post(`/payments/${paymentIds[i]}/adjustments`, {
            amount,
            reference: newReference(),
            reason,
          }),
    )
  },
  async resolveSuspense(on, amounts) {
    const { merchantId } = await on.newMerchant()
    const paymentIds = await Promise.all(amounts.map((amount) => strayCredit(on, amount)))
    return paymentIds.map(
      (paymentId) =>
        ({ browser }) =>
          browser.post(`/payments/${paymentId}/assign`, { merchantId, reason }),
    )
  },
  async unassignCredit(on, amounts) {
    const { merchantId } = await on.newMerchant()
    const paymentIds: string[] = []
    for (const amount of amounts) {
      const paymentId = await strayCredit(on, amount)
      const args = { tenantId: 'house', paymentId, merchantId, reason }
      await byTwo(on, await on.app.services.commands.open(resolveSuspense).run(args, MAYA))
      const [assigned] = await sqlOn<{ id: string }>(
        on,
        'select payment_id as id from payments where merchant_id = $1 order by created_at desc limit 1',
        [merchantId],
      )
      paymentIds.push(assigned!.id)
    }
    return paymentIds.map(
      (paymentId) =>
        ({ browser }) =>
          browser.post(`/payments/${paymentId}/unassign`, { reason }),
    )
  },
  async createRefund(on, amounts) {
    const { paymentIds } = await paidShop(on, amounts)
    return amounts.map(
      (amount, i) =>
        ({ browser }) =>
          browser.post(`/payments/${paymentIds[i]}/refunds`, {
            amount,
            referenceNumber: newReference(),
            reason,
          }),
    )
  },
  async completeRefund(on, amounts) {
    const { client, merchantId, paymentIds } = await paidShop(on, amounts)
    const refunds: string[] = []
    for (const [i, amount] of amounts.entries()) {
      const path = `/api/v0/payments/${paymentIds[i]}/refunds`
      const { refundId } = payloadOf(await client.post(path, { amount, referenceNumber: newUtr() }))
      const send = operatorsOf(on.app.services.commands).open(sendRefund)
      await send.run({ merchantId, refundId, runId: 'rfr_attempt' })
      refunds.push(refundId)
    }
    return refunds.map(
      (refundId) =>
        ({ browser }) =>
          browser.post(`/refunds/${refundId}/complete`, { status: 'FAILED', reason }),
    )
  },
  async 'completeRefund, by a file'(on, amounts) {
    const { client, merchantId, paymentIds } = await paidShop(on, amounts)
    const refunds: string[] = []
    for (const [i, amount] of amounts.entries()) {
      const path = `/api/v0/payments/${paymentIds[i]}/refunds`
      const { refundId } = payloadOf(await client.post(path, { amount, referenceNumber: newUtr() }))
      const send = operatorsOf(on.app.services.commands).open(sendRefund)
      await send.run({ merchantId, refundId, runId: 'rfr_attempt' })
      refunds.push(refundId)
    }
    return refunds.map((refundId) => ({ actor }) => {
      const outcome = { refundId, utr: null, amountPaise: undefined, failureReason: reason }
      const { commands } = on.app.services
      return commands.open(completeRefund).run({ read: { outcome }, file: FILE }, { actor, target: refundId })
    })
  },
  async 'changePayout, by a file'(on, amounts) {
    const { client, merchantId } = await newShop(on)
    await giveAccount(on, merchantId)
    const { tr } = await newCode(on, client, { multipleUse: true })
    const payouts: { merchantId: string; payoutId: string }[] = []
    for (const amount of amounts) {
      payloadOf(await notifyCredit(on.client, creditOf(tr, { amount })))
      payouts.push({ merchantId, payoutId: await sendPayoutOf(on, merchantId) })
    }
    return payouts.map(({ merchantId, payoutId }) => ({ actor }) => {
      const step = { to: 'FAILED', reason, file: FILE } as const
      const { commands } = on.app.services
      return commands.open(changePayout).run({ merchantId, payoutId, step }, { actor, target: payoutId })
    })
  },
  async closeDispute(on, amounts) {
    const { paymentIds } = await paidShop(on, amounts)
    const disputes: string[] = []
    for (const [i, amount] of amounts.entries())
      disputes.push(await newDispute(on, paymentIds[i]!, { amount }))
    return disputes.map(
      (disputeId) =>
        ({ browser }) =>
          browser.post(`/disputes/${disputeId}/close`, { outcome: 'WON' }),
    )
  },
  async changePayout(on, amounts) {
    const payouts: string[] = []
    for (const amount of amounts) {
      const { merchantId } = await paidShop(on, [amount])
      await giveAccount(on, merchantId)
      payouts.push(await sendPayoutOf(on, merchantId))
    }
    return payouts.map(
      (payoutId) =>
        ({ browser }) =>
          browser.post(`/payouts/${payoutId}/complete`, { status: 'FAILED', reason }),
    )
  },
  async createGiftCard(on, amounts) {
    const { cardAccountId } = await fundedPartner(on, sum(amounts))
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          browser.post(`/card-accounts/${cardAccountId}/cards`, {
            firstName: 'Asha',
            lastName: 'Rao',
            email: 'asha@example.com',
            mobile: '9876543210',
            loadAmount: String(amount),
            referenceNumber: newReference(),
          }),
    )
  },
  async loadCard(on, amounts) {
    const svcCardId = await reloadableCard(on, 500 + sum(amounts), 0)
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          browser.post(`/cards/${svcCardId}/loads`, { amount, referenceNumber: newReference(), reason }),
    )
  },
  async unloadCard(on, amounts) {
    const svcCardId = await reloadableCard(on, 500 + sum(amounts), sum(amounts))
    return amounts.map(
      (amount) =>
        ({ browser }) =>
          browser.post(`/cards/${svcCardId}/unloads`, { amount, referenceNumber: newReference(), reason }),
    )
  },
}
