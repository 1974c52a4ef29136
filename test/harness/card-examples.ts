import { type Client, payloadOf } from './client.ts'
import { recordCompanies } from './company-examples.ts'
import { newMealAccount } from './meal-account.ts'
import { CREATE, createCard, encryptFor, type TestPartner } from './partner.ts'
import type { Recorder } from './recorder.ts'

export interface Callers {
  /** Without credentials, for the sandbox. */
  readonly open: Client
  readonly issuer: Client
  readonly partner: TestPartner
}

/** Examples of orders with a reference, of the end of cards, and of the simulated card network. */
export async function cardExamples(recorder: Recorder, callers: Callers): Promise<void> {
  await ordersWithReference(recorder, callers)
  await loadsOfCards(recorder, callers)
  await endOfCards(recorder, callers)
  await recordCompanies(recorder, callers)
  await cardAccounts(recorder, callers)
  await spendRules(recorder, callers)
}

const newCard = async ({ issuer, partner }: Callers): Promise<string> => {
  return payloadOf(await createCard(issuer, partner, { firstName: 'Meera' })).svcCardId
}

async function ordersWithReference(recorder: Recorder, { issuer, partner }: Callers): Promise<void> {
  const { companyId, cardAccountId, partnerId } = partner
  const order = {
    companyId,
    cardAccountId,
    firstName: 'Asha',
    loadAmount: '500',
    referenceNumber: 'order-1042',
  }
  const requestOf = async (encrypted: object) => ({
    headers: { partnerId, 'content-type': 'application/json' },
    encrypted,
    body: JSON.stringify(await encryptFor(partner, encrypted)),
  })
  const first = 'With a reference of your own: a repeat returns this card'
  await recorder.works('createGiftCard', first, issuer, await requestOf(order))
  const other = await requestOf({ ...order, loadAmount: '600' })
  await recorder.fails('createGiftCard', 'order_reference_in_use', 'Another order with it', issuer, other)
}

/** A meal card whose card account has 5,000 rupees. */
async function newMealCard({ issuer, open, partner }: Callers): Promise<string> {
  const { meal, virtualAccountNumber } = await newMealAccount(issuer, partner)
  payloadOf(await open.post('/sandbox/bank/transfers', { virtualAccountNumber, amount: 5_000 }))
  return newCard({ issuer, open, partner: meal })
}

async function loadsOfCards(recorder: Recorder, callers: Callers): Promise<void> {
  const { issuer, partner } = callers
  const headers = { partnerId: partner.partnerId }
  const of = (svcCardId: string) => ({ params: { svcCardId }, headers })
  const [meal, gift, missing] = [
    of(await newMealCard(callers)),
    of(await newCard(callers)),
    of('card_nothing'),
  ]
  const move = (amount: number, referenceNumber: string) => ({ body: { amount, referenceNumber } })
  const nobody = 'Not there, or not yours'
  const [april, back] = [move(1500, 'april-42'), move(250, 'april-42-back')]
  await recorder.works('loadCard', 'The allocation of a month', issuer, { ...meal, ...april })
  await recorder.fails('loadCard', 'load_reference_in_use', 'Another load with it', issuer, {
    ...meal,
    ...move(1600, 'april-42'),
  })
  await recorder.fails('loadCard', 'load_over_limit', 'More than its type may', issuer, {
    ...meal,
    ...move(10_001, 'may-42'),
  })
  await recorder.fails('loadCard', 'insufficient_funds', 'The card account has less', issuer, {
    ...meal,
    ...move(4_000, 'may-42'),
  })
  await recorder.fails('loadCard', 'card_not_reloadable', 'A gift card', issuer, {
    ...gift,
    ...move(1, 'gift'),
  })
  await recorder.fails('loadCard', 'card_not_found', nobody, issuer, { ...missing, ...move(1, 'none') })
  await recorder.works('unloadCard', 'A part of it', issuer, { ...meal, ...back })
  await recorder.fails('unloadCard', 'load_reference_in_use', 'That of a load', issuer, { ...meal, ...april })
  await recorder.fails('unloadCard', 'card_balance_too_low', 'More than is left', issuer, {
    ...meal,
    ...move(5_000, 'june-42'),
  })
  await recorder.fails('unloadCard', 'unload_not_allowed', 'A gift card', issuer, {
    ...gift,
    ...move(1, 'gift'),
  })
  await recorder.fails('unloadCard', 'card_not_found', nobody, issuer, { ...missing, ...move(1, 'none') })
  await issuer.patch(`${CREATE}/${meal.params.svcCardId}/status`, { status: 'BL', reason: 'Lost' })
  for (const id of ['loadCard', 'unloadCard'])
    await recorder.fails(id, 'card_ended', 'It is blocked', issuer, { ...meal, ...move(1, 'july-42') })
}

async function endOfCards(recorder: Recorder, callers: Callers): Promise<void> {
  const { issuer, open, partner } = callers
  const headers = { partnerId: partner.partnerId }
  const of = (svcCardId: string) => ({ params: { svcCardId }, headers })
  const [lost, given, missing] = [of(await newCard(callers)), of(await newCard(callers)), of('card_nothing')]
  const reason = { body: { reason: 'Lost' } }
  const consent = { body: { consentReference: 'letter-2026-0042' } }
  const nobody = 'Not there, or not yours'
  await networkMessages(recorder, open, lost.params.svcCardId)
  await recorder.works('replaceCard', 'It was lost', issuer, { ...lost, ...reason })
  await recorder.fails('replaceCard', 'card_not_found', nobody, issuer, { ...missing, ...reason })
  await recorder.fails('returnCard', 'card_not_ended', 'It is in use', issuer, { ...given, ...consent })
  const block = { status: 'BL', reason: 'Not wanted' }
  await issuer.patch(`${CREATE}/${given.params.svcCardId}/status`, block)
  await recorder.works('returnCard', 'The holder does not want it', issuer, { ...given, ...consent })
  const waiting = 'Its money is on its way back'
  await recorder.fails('replaceCard', 'return_waiting', waiting, issuer, { ...given, ...reason })
  await recorder.fails('returnCard', 'return_waiting', 'There is one already', issuer, {
    ...given,
    body: { consentReference: 'letter-2026-0043' },
  })
  await recorder.fails('returnCard', 'card_not_found', nobody, issuer, { ...missing, ...consent })
  await recorder.fails('returnCard', 'nothing_left', 'Its replacement has it', issuer, {
    ...lost,
    ...consent,
  })
  await recorder.works('getCardEnd', 'What became of it', issuer, given)
  await recorder.fails('getCardEnd', 'card_not_found', nobody, issuer, missing)
}

async function networkMessages(recorder: Recorder, open: Client, svcCardId: string): Promise<void> {
  const summary = 'A terminal that gets no response voids its authorisation'
  await recorder.works('sandboxCardMessage', summary, open, {
    params: { svcCardId },
    body: { type: 'authorization', amount: 10, behaviour: 'timeout' },
  })
  await recorder.fails('sandboxCardMessage', 'card_not_found', 'Not there', open, {
    params: { svcCardId: 'card_nothing' },
    body: { type: 'balance_inquiry' },
  })
}

async function bankTransfers(recorder: Recorder, { open }: Callers, virtualAccount: string): Promise<void> {
  const notice = { utr: 'AXISN26091000042', virtualAccount, amount: 250_000, mode: 'NEFT' }
  await recorder.works('receiveBankCredit', 'A transfer', open, {
    body: { ...notice, remitterName: 'Acme Industries', remitterAccount: '912010012345678' },
  })
  await recorder.works('sandboxBankTransfer', 'By RTGS', open, {
    body: { virtualAccountNumber: virtualAccount, amount: 500_000, mode: 'RTGS' },
  })
}

async function cardAccounts(recorder: Recorder, callers: Callers): Promise<void> {
  const { issuer, partner } = callers
  const svcCardId = await newCard(callers)
  const nobody = 'Not there, or not yours'
  const params = { cardAccountId: partner.cardAccountId }
  const missing = { params: { cardAccountId: 'acc_nothing' } }
  await recorder.works('listCardAccounts', 'All of yours', issuer, { query: { limit: '10' } })
  await recorder.fails('listCardAccounts', 'validation_failed', 'Too many at once', issuer, {
    query: { limit: '0' },
  })
  await recorder.works('getCardAccount', 'One of them, with its balance', issuer, { params })
  await recorder.fails('getCardAccount', 'card_account_not_found', nobody, issuer, missing)
  await recorder.fails('getFundingInstructions', 'card_account_not_found', nobody, issuer, missing)
  const told = await recorder.works('getFundingInstructions', 'Where to transfer money', issuer, { params })
  await bankTransfers(recorder, callers, payloadOf(told).virtualAccountNumber)
  const body = { lowBalance: 5000 }
  await recorder.works('updateCardAccount', 'A threshold', issuer, { params, body })
  await recorder.fails('updateCardAccount', 'card_account_not_found', nobody, issuer, { ...missing, body })
  const tooMuch = { params, body: { denomination: 20_000 } }
  await recorder.fails('updateCardAccount', 'load_over_limit', 'More than a card may hold', issuer, tooMuch)
  const said = { body: { svcSupportEmail: 'help@acme.example', tncUrl: 'https://acme.example/terms' } }
  await recorder.works('updateRecordSettings', 'For all cards', issuer, said)
  await recorder.fails('updateRecordSettings', 'validation_failed', 'No link', issuer, {
    body: { tncUrl: 'acme.example' },
  })
  await recorder.works('getRecordSettings', 'What all cards say', issuer, {})
  const period = { query: { from: '2026-01-01', to: '2026-01-31' } }
  await recorder.works('getCardAccountStatement', 'A month', issuer, { params, ...period })
  await recorder.works('getCardAccountStatementPdf', 'A month, as a file', issuer, { params, ...period })
  await recorder.fails('getCardAccountStatement', 'card_account_not_found', nobody, issuer, {
    ...missing,
    ...period,
  })
  await recorder.fails('getCardAccountStatementPdf', 'card_account_not_found', nobody, issuer, {
    ...missing,
    ...period,
  })
  const headers = { partnerId: partner.partnerId }
  const card = { params: { svcCardId }, headers }
  await recorder.works('getCardBalance', 'To the paisa', issuer, card)
  const noCard = { params: { svcCardId: 'card_nothing' }, headers }
  await recorder.fails('getCardBalance', 'card_not_found', nobody, issuer, noCard)
}

const RULES = '/api/v0/partner/spend-rules'

async function spendRules(recorder: Recorder, callers: Callers): Promise<void> {
  const { issuer, open, partner } = callers
  const svcCardId = await newCard(callers)
  const nobody = 'Not there, or not yours'
  const cash = {
    name: 'Cash: 2,000 rupees a day for each card',
    cardAccountId: partner.cardAccountId,
    channels: ['atm'],
    dayAmount: 2000,
    perCard: true,
  }
  const set = await recorder.works('createSpendRule', 'A limit', issuer, { body: cash })
  const params = { spendRuleId: payloadOf(set).spendRuleId }
  const missing = { params: { spendRuleId: 'spr_nothing' } }
  const bets = { name: 'No bets', mccs: ['7995'], svcCardId }
  const blocked = await recorder.works('createSpendRule', 'What is not permitted', issuer, { body: bets })
  const send = (body: object) => open.post(`/sandbox/cards/${svcCardId}/messages`, body)
  await send({ type: 'authorization', amount: 120, mcc: '7995' })
  await send({ type: 'authorization', amount: 80, mcc: '5411' })
  const fails: Recorder['fails'] = recorder.fails.bind(recorder)
  await fails('createSpendRule', 'card_not_found', nobody, issuer, {
    body: { ...bets, svcCardId: 'card_nothing' },
  })
  await fails('createSpendRule', 'card_account_not_found', nobody, issuer, {
    body: { ...cash, cardAccountId: 'acc_nothing' },
  })
  await fails('createSpendRule', 'spend_rule_not_found', 'To replace one that is not there', issuer, {
    body: { ...cash, replaces: 'spr_nothing' },
  })
  const many = { name: 'Up to 100', transactionAmount: 100 }
  const extra = await Promise.all(Array.from({ length: 20 }, () => issuer.post(RULES, many)))
  await fails('createSpendRule', 'too_many_spend_rules', 'One more', issuer, { body: many })
  for (const { spendRuleId } of extra.map(payloadOf)) await issuer.send('DELETE', `${RULES}/${spendRuleId}`)
  await recorder.works('listSpendRules', 'Those of a card', issuer, { query: { svcCardId } })
  await fails('listSpendRules', 'validation_failed', 'Too many at once', issuer, { query: { limit: '0' } })
  await recorder.works('getSpendRule', 'One of them', issuer, { params })
  await fails('getSpendRule', 'spend_rule_not_found', nobody, issuer, missing)
  const without = {
    svcCardId,
    remove: [payloadOf(blocked).spendRuleId],
    create: [{ transactionAmount: 100 }],
  }
  await recorder.works('backtestSpendRules', 'A limit in the place of a rule', issuer, { body: without })
  await recorder.works('removeSpendRule', 'It is no longer in force', issuer, { params })
  await fails('removeSpendRule', 'spend_rule_not_found', nobody, issuer, missing)
}
