import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newProgram } from '@svc/cli/program'
import type { Command } from 'commander'
import { expect } from 'vitest'
import { type Client, type Json, payloadOf } from '../harness/client.ts'
import { Browser } from '../harness/console.ts'
import { AS_MEERA, handedOver, refusesToShow } from '../harness/handed-over.ts'
import type { Live } from '../harness/live.ts'
import type { LiveMerchant } from './merchants.ts'
import type { LivePartner } from './partners.ts'

export const PASSWORD = 'correct horse battery staple'
/** Runs a command in the name of the second person. */
export const AS_RAVI = { SVC_OPERATOR: 'ravi', SVC_OPERATOR_PASSWORD: PASSWORD }

/** Every command that administers an installation, as a user writes it. */
export async function administrationLeaves(): Promise<(readonly [name: string, command: Command])[]> {
  const leaves = (command: Command, before: string): (readonly [string, Command])[] =>
    command.commands.flatMap((child) => {
      const name = `${before} ${child.name()}`
      const below = leaves(child, name)
      // `svc admin backup <file>` is a command and has one below it.
      return below.length === 0 || name === 'admin backup' ? [[name, child] as const, ...below] : below
    })
  const { commands } = await newProgram()
  return commands.filter((command) => command.name() === 'admin').flatMap((admin) => leaves(admin, 'admin'))
}

export const administrationCommands = async (): Promise<string[]> =>
  (await administrationLeaves()).map(([name]) => name)

/** Commands that one installation of a day cannot run, and the test that runs each. */
export const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'admin cell name': 'cells.test.ts',
  'admin cell create': 'cells.test.ts',
  'admin cell list': 'cells.test.ts',
  'admin directory export': 'haproxy-cells.test.ts',
  'admin tenant move': 'tenant-move.test.ts',
  'admin change-request list': 'change-requests.test.ts',
  'admin change-request approve': 'change-requests.test.ts',
  'admin change-request reject': 'change-requests.test.ts',
  'admin tax issue': 'tax-documents.test.ts',
  'admin tax credit-note': 'credit-notes.test.ts',
  'admin tax debit-note': 'credit-notes.test.ts',
  'admin books sweep': 'own-funds.test.ts',
  'admin books pay gst': 'own-funds.test.ts',
  'admin books pay owner': 'own-funds.test.ts',
  'admin books pay escrow': 'own-funds.test.ts',
  'admin books undo': 'own-funds-taken-back.test.ts',
  'admin books year-end': 'year-end.test.ts',
  'admin tax tds': 'tax-deducted.test.ts',
  'admin tax tds-refund': 'tax-deducted.test.ts',
  'admin tax tds-certificates': 'tax-deducted.test.ts',
  'admin tax pdf': 'tax-documents.test.ts',
}

type Svc = Live['svc']

export async function administerMerchants(
  svc: Svc,
  { client, merchantId }: LiveMerchant,
  url: string,
): Promise<void> {
  await administerMembers(svc, merchantId)
  expect(await svc(['admin', 'merchant', 'list'])).toContainEqual(
    await svc(['admin', 'merchant', 'show', merchantId]),
  )
  const [{ credentialId }] = (await svc(['admin', 'key', 'list', merchantId])).data
  await refusesToShow(svc, ['admin', 'key', 'roll', merchantId, credentialId, '--hours', '2'])
  const limit = ['admin', 'key', 'limit', merchantId, credentialId]
  const limits = { addresses: ['203.0.113.0/24', '::1'], scopes: ['payments:read', 'payouts:read'] }
  expect(
    await svc([...limit, '--address', ...limits.addresses, '--scope', limits.scopes.join()]),
  ).toMatchObject(limits)
  expect(await svc([...limit, '--address', '', '--scope', ''])).toMatchObject({ addresses: [], scopes: [] })
  await svc(['admin', 'merchant', 'link', merchantId])
  await svc(['admin', 'merchant', 'disable', merchantId])
  await svc(['admin', 'merchant', 'enable', merchantId])
  await refusesToShow(svc, ['admin', 'webhook', 'create', merchantId, '--url', url])
  const { endpointId } = payloadOf(await client.post('/api/v0/webhook-endpoints', { url }))
  await refusesToShow(svc, ['admin', 'webhook', 'rotate', endpointId])
  expect(await svc(['admin', 'webhook', 'list', merchantId])).toContainEqual(
    await svc(['admin', 'webhook', 'show', endpointId]),
  )
  for (const verb of ['disable', 'enable', 'delete']) await svc(['admin', 'webhook', verb, endpointId])
  await closeMerchant(svc)
}

async function closeMerchant(svc: Svc): Promise<void> {
  const shop = ['--name', 'Short Stay', '--vpa', 'short.stay@bank', '--mcc', '5411']
  const { merchantId } = (await svc(['admin', 'merchant', 'create', ...shop])).merchant
  await svc(['admin', 'tenant', 'close', merchantId, '--reason', 'contract ended'])
  await expect
    .poll(() => svc(['admin', 'tenant', 'closing', merchantId]), { timeout: 30_000, interval: 1_000 })
    .toMatchObject({ closedOn: expect.any(String), left: [] })
  expect((await svc(['admin', 'tenant', 'closings', '--status', 'all'])).data).toMatchObject([
    { tenantId: merchantId },
  ])
}

export async function administerPartners({ svc, folder }: Live, partner: LivePartner): Promise<void> {
  const { partnerId, companyId } = partner
  await svc(['admin', 'partner', 'list'])
  await svc(['admin', 'partner', 'show', partnerId])
  await refusesToShow(svc, ['admin', 'partner', 'client', 'issue', partnerId, '--name', 'batch jobs'])
  await refusesToShow(svc, ['admin', 'partner', 'key', 'issue-shared', partnerId])
  const { credentialId: clientId } = (await handedOver({ svc }, partner.client, partnerId)).credential
  expect((await svc(['admin', 'partner', 'client', 'list', partnerId])).data).toHaveLength(2)
  await refusesToShow(svc, ['admin', 'partner', 'client', 'roll', partnerId, clientId])
  const limit = ['admin', 'partner', 'client', 'limit', partnerId, clientId]
  expect(await svc([...limit, '--address', '', '--scope', 'cards:read'])).toMatchObject({
    scopes: ['cards:read'],
  })
  await svc(['admin', 'partner', 'client', 'revoke', partnerId, clientId])
  const jwk = { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) }
  const file = join(folder, 'public.jwk')
  await writeFile(file, JSON.stringify({ ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW', kid: 'acme-1' }))
  const { kid } = await svc(['admin', 'partner', 'key', 'register-public', partnerId, file])
  expect((await svc(['admin', 'partner', 'key', 'list', partnerId])).jweKeys).toHaveLength(2)
  await svc(['admin', 'partner', 'key', 'retire', partnerId, kid])
  const support = 'svcSupportEmail=help@acme.example'
  const settings = await svc(['admin', 'partner', 'update', partnerId, '--set', support])
  expect(await svc(['admin', 'partner', 'settings', partnerId])).toEqual(settings)
  await svc(['admin', 'partner', 'disable', partnerId])
  await svc(['admin', 'partner', 'enable', partnerId])
  await svc(['admin', 'company', 'list', partnerId])
  await svc(['admin', 'company', 'show', companyId])
  await svc(['admin', 'user', 'list', companyId])
  const { userId } = await svc(['admin', 'user', 'create', companyId, '--first-name', 'Leaving'])
  await svc(['admin', 'user', 'show', userId])
  await svc(['admin', 'user', 'erase', userId, '--reason', 'asked'])
  const rule = ['--name', 'Cash', '--channels', 'atm', '--day-amount', '2000', '--per-card']
  const { spendRuleId } = await svc(['admin', 'spend-rules', 'create', partnerId, ...rule])
  await svc(['admin', 'spend-rules', 'list', partnerId])
  await svc(['admin', 'spend-rules', 'show', spendRuleId])
  expect(await svc(['admin', 'spend-rules', 'backtest', partnerId, '--mccs', '7995'])).toMatchObject({
    changed: 0,
  })
  expect((await svc(['admin', 'spend-rules', 'remove', spendRuleId])).removedOn).toBeTruthy()
  await svc(['admin', 'card-account', 'list', companyId])
  await svc(['admin', 'card-account', 'show', partner.cardAccountId])
  await svc(['admin', 'card-account', 'instructions', partner.cardAccountId])
  await svc(['admin', 'card-account', 'update', partner.cardAccountId, '--set', support])
  const paidBack = ['--amount', '1', '--reference', 'AXISR0000001', '--reason', 'paid in twice']
  await svc(['admin', 'card-account', 'withdraw', partner.cardAccountId, ...paidBack])
}

export async function administerCards(
  svc: Svc,
  { inUse: svcCardId, meal, waiting }: { inUse: string; meal: string; waiting: string },
): Promise<void> {
  const why = ['--reason', 'asked by phone']
  await svc(['admin', 'cards', 'activate', waiting, ...why])
  for (const way of ['load', 'unload']) {
    const given = ['--amount', '10', '--reference', `letter-${way}`, '--reason', 'by letter']
    expect(await svc(['admin', 'cards', way, meal, ...given])).toMatchObject({ kind: way, amount: 10 })
  }
  expect(await svc(['admin', 'cards', 'list', '--q', svcCardId])).toMatchObject([{ svcCardId }])
  await svc(['admin', 'cards', 'show', svcCardId])
  await svc(['admin', 'cards', 'lock', svcCardId, '--reason', 'reported lost'])
  await svc(['admin', 'cards', 'unlock', svcCardId, '--reason', 'found'])
  await svc(['admin', 'cards', 'flags', 'set', svcCardId, '--atm', 'on', '--atm-admin', 'on', ...why])
  await svc(['admin', 'cards', 'kyc', 'set', svcCardId, 'UPLOADED', ...why])
  await svc(['admin', 'cards', 'block', svcCardId, '--reason', 'stolen'])
  await svc(['admin', 'cards', 'history', svcCardId])
  expect(await svc(['admin', 'cards', 'transactions', 'list', svcCardId, '--kind', 'load'])).toHaveLength(1)
  const { svcCardId: replacement } = await svc(['admin', 'cards', 'replace', waiting, '--reason', 'lost'])
  await svc(['admin', 'cards', 'block', replacement, '--reason', 'not wanted'])
  const { returnId } = await svc(['admin', 'cards', 'return', replacement, '--consent', 'LETTER-1'])
  await svc(['admin', 'cards', 'reverse-return', returnId, '--reason', 'wanted after all'])
  expect(await svc(['admin', 'cards', 'returns', replacement])).toHaveLength(1)
}

async function administerMembers(svc: Svc, merchantId: string): Promise<void> {
  const { link, memberId } = await svc(['admin', 'member', 'invite', merchantId, 'asha@shop.example'])
  const renewed = await svc(['admin', 'member', 'link', merchantId, memberId, '--hours', '8'])
  expect(renewed.link).not.toBe(link)
  await svc(['admin', 'member', 'role', merchantId, memberId, 'viewer'])
  await svc(['admin', 'member', 'disable', merchantId, memberId])
  // This merchant has money: two administrators let further people in.
  const { approvalId } = await svc(['admin', 'member', 'enable', merchantId, memberId])
  await svc(['admin', 'operator', 'approve', approvalId], '', AS_MEERA)
  const members: Json[] = await svc(['admin', 'member', 'list', merchantId])
  expect(members).toContainEqual(expect.objectContaining({ name: 'asha@shop.example', status: 'invited' }))
}

/** The person opens the link and chooses the password. */
export const acceptLink = async (client: Client, { link }: Json): Promise<void> => {
  const accepted = await new Browser({ client }).post('/invitation/accept', {
    token: link.split('#')[1],
    password: PASSWORD,
  })
  expect([accepted.status, accepted.text]).toEqual([200, accepted.text])
}

/** The owner of the database makes two administrators; from then on each change is theirs. */
export async function inviteAdministrators(svc: Svc, client: Client): Promise<void> {
  for (const name of ['asha', 'meera'])
    await acceptLink(
      client,
      await svc(['admin', 'operator', 'invite', name, '--role', 'admin', '--as-owner']),
    )
}

/** What changes who may act, and what of it both administrators do. */
export async function administerOperators(svc: Svc, client: Client): Promise<void> {
  await inviteAdministrators(svc, client)
  await acceptLink(client, await svc(['admin', 'operator', 'invite', 'ravi', '--role', 'viewer']))
  const both = async (...args: string[]) => {
    const { approvalId } = await svc(['admin', 'operator', ...args])
    expect(await svc(['admin', 'operator', 'requests'])).toMatchObject([
      { approvalId, requestedBy: 'operator asha' },
    ])
    await svc(['admin', 'operator', 'approve', approvalId], '', AS_MEERA)
  }
  await both('role', 'ravi', 'operator')
  const renewed = await svc(['admin', 'operator', 'password-link', 'ravi'])
  await svc(['admin', 'operator', 'approve', renewed.approvalId], '', AS_MEERA)
  await acceptLink(client, renewed)
  await svc(['admin', 'operator', 'disable', 'ravi'])
  await both('enable', 'ravi')
  expect(await svc(['admin', 'operator', 'list'])).toHaveLength(3)
  await both('unlink', 'ravi')
  await both('remove-passkeys', 'ravi')
  const { approvalId } = await svc(['admin', 'operator', 'reset-second-factor', 'ravi'])
  await svc(['admin', 'operator', 'reject', approvalId])
  const { invitationId } = await svc(['admin', 'operator', 'invite', 'dara', '--role', 'operator'])
  expect(await svc(['admin', 'operator', 'invitations'])).toMatchObject([{ invitationId, status: 'waiting' }])
  await svc(['admin', 'operator', 'revoke-invitation', 'dara'])
}

export async function administerKeys(svc: Svc): Promise<void> {
  await svc(['admin', 'keys', 'rotate', 'card_number'])
  await svc(['admin', 'keys', 'rotate', 'webhook_signing'])
  const keys: Json[] = await svc(['admin', 'keys', 'list'])
  const previous = keys.find(({ purpose, status }) => purpose === 'webhook_signing' && status !== 'current')
  await svc(['admin', 'keys', 'retire', previous.keyId])
  expect(await svc(['admin', 'keys', 'rewrap'])).toMatchObject({ rewrapped: 0 })
}

/** A call without a signature opens an alert, which the watch finds with the documented login of operators and sends. */
async function acknowledgeAlert({ receiver, server, settings, svc }: Live): Promise<void> {
  const forged = await fetch(`http://127.0.0.1:${settings['PORT']}/rails/upi/credits`, { method: 'POST' })
  await forged.arrayBuffer()
  expect(forged.status).toBe(401)
  const opened = () => server.query("select from alerts where kind = 'rail_signature_rejected'")
  await expect.poll(opened, { timeout: 60_000 }).toHaveLength(1)
  await expect.poll(() => receiver.received.get('alerts')?.size, { timeout: 60_000 }).toBeGreaterThan(0)
  const alerts: Json[] = await svc(['admin', 'alerts', 'list'])
  const { alertId } = alerts.find(({ kind }) => kind === 'rail_signature_rejected')
  const acknowledged = await svc(['admin', 'alerts', 'acknowledge', alertId, '--note', 'looked into'])
  expect(acknowledged).toMatchObject({ status: 'acknowledged', note: 'looked into' })
}

/** Statements of two banks: one paid the other, which the first one does not know. */
async function proveFunds({ svc, folder }: Live): Promise<void> {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const of = async (purpose: string, number: string, amount: string): Promise<string> => {
    const given = ['--number', number, '--ifsc', 'HDFC0000123', '--opening', '0.00', '--from', day]
    const create = ['admin', 'bank-account', 'create', '--purpose', purpose, '--name', purpose, ...given]
    const { bankAccountId } = await svc(create)
    const file = join(folder, `${purpose}.csv`)
    await writeFile(file, `date,amount,reference,narration,balance\n${day},${amount},,TOP,${amount}\n`)
    const imported = await svc(['admin', 'statement', 'import', file, '--account', bankAccountId])
    expect(imported).toMatchObject({ new: 1, unmatched: 1 })
    return (await svc(['admin', 'statement', 'lines', '--bank-account-id', bankAccountId]))[0].lineId
  }
  const left = await of('merchant_escrow', '50100012345678', '-1.00')
  const came = await of('own_funds', '50100012345679', '1.00')
  expect(await svc(['admin', 'bank-account', 'list'])).toHaveLength(2)
  const why = ['--reason', 'our fees']
  const assigned = await svc(['admin', 'statement', 'assign', left, '--owner', 'asha'])
  expect(assigned).toMatchObject({ owner: 'asha' })
  await svc(['admin', 'statement', 'resolve', left, '--as', 'own_funds', ...why])
  const matched = await svc(['admin', 'statement', 'match', came, '--to', left, ...why])
  expect(matched).toMatchObject({ status: 'MATCHED', documentId: left })
  expect(await svc(['admin', 'statement', 'unmatch', came, ...why])).toMatchObject({ status: 'UNMATCHED' })
  await svc(['admin', 'statement', 'match', came, '--to', left, ...why])
}

/** A day on which banks are closed, and one on which they are not after all. */
async function closeBanks({ svc, folder }: Live): Promise<void> {
  const file = join(folder, 'holidays.csv')
  await writeFile(file, 'date,name\n2027-01-26,Republic Day\n2027-03-22,Holi\n')
  expect(await svc(['admin', 'calendar', 'import', file])).toMatchObject({ added: 2, repeated: 0 })
  await svc(['admin', 'calendar', 'remove', '2027-03-22', '--reason', 'moved'])
  expect(await svc(['admin', 'calendar', 'list', '--year', '2027'])).toHaveLength(1)
}

/** A month of invoices: of one that is not over there are none yet. */
async function readTaxes({ svc, server }: Live, month: string): Promise<void> {
  const [{ merchant_id: merchantId }] = (await server.query(
    'select merchant_id from svc.merchants order by merchant_id limit 1',
  )) as [{ merchant_id: string }]
  const who = ['--legal-name', 'Corner Shop LLP', '--address', '2 MG Road, Bengaluru', '--state', '29']
  expect(await svc(['admin', 'tax', 'registration', merchantId, ...who])).toMatchObject({ state: '29' })
  expect(await svc(['admin', 'tax', 'show-registration', merchantId])).toMatchObject({ state: '29' })
  expect(await svc(['admin', 'tax', 'list', month])).toEqual([])
  await svc(['admin', 'tax', 'gstr1', '--month', month, '--section', 'docs'])
}

/** What proves the books, and a backup that takes the place of the data that it was made of. */
export async function proveAndRestore(live: Live): Promise<void> {
  const { svc, folder } = live
  await svc(['admin', 'doctor'])
  await acknowledgeAlert(live)
  await svc(['admin', 'audit', 'verify'])
  const heads = join(folder, 'heads.txt')
  await svc(['admin', 'events', 'heads', heads])
  expect((await svc(['admin', 'events', 'compare', heads])).problems).toEqual([])
  await svc(['admin', 'reconcile'])
  await svc(['admin', 'invariants'])
  expect((await svc(['admin', 'books', 'statement', 'suspense:house']))[0].what).toBe('Opening balance')
  expect((await svc(['admin', 'books', 'trial-balance'])).at(-1).account).toBe('Total')
  await svc(['admin', 'books', 'liabilities'])
  const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
  await svc(['admin', 'books', 'close', '--through', day])
  expect(await svc(['admin', 'books', 'closings'])).toHaveLength(1)
  expect(await svc(['admin', 'books', 'verify'])).toEqual([{ through: day }])
  expect((await svc(['admin', 'coins', 'liability'])).data[0].coins).toBeGreaterThan(0)
  const settled = join(folder, 'settled.csv')
  await writeFile(settled, 'utr,amount,date\nNOTHERE0001,1.00,2026-04-01\n')
  expect(await svc(['admin', 'settlement', 'import', settled])).toMatchObject({ unknown: 1 })
  expect(await svc(['admin', 'settlement', 'differences'])).toContainEqual(
    expect.objectContaining({ kind: 'unknown', utr: 'NOTHERE0001' }),
  )
  const whole = join(folder, 'whole.csv')
  await writeFile(
    whole,
    `batchUtr,valueDate,netAmount,kind,reference,amount\nHDFCN526001,${day},-1.00,charge,,-1.00\n`,
  )
  await svc(['admin', 'settlement', 'import', whole])
  expect(await svc(['admin', 'settlement', 'batches'])).toMatchObject([{ batchUtr: 'HDFCN526001' }])
  expect(await svc(['admin', 'settlement', 'batch', 'HDFCN526001'])).toMatchObject({ netAmount: '-1.00' })
  expect(
    await svc(['admin', 'settlement', 'reverse', 'HDFCN526001', '--reason', 'wrong file']),
  ).toMatchObject({
    status: 'REVERSED',
    amount: '1.00',
  })
  await svc(['admin', 'books', 'accrue', '--through', day])
  expect(await svc(['admin', 'books', 'prior-period', '--through', day])).toBeDefined()
  await readTaxes(live, day.slice(0, 7))
  await proveFunds(live)
  await closeBanks(live)
  const file = join(folder, 'today.tar')
  await svc(['admin', 'backup', file])
  await svc(['admin', 'backup', 'verify', file])
  await svc(['admin', 'restore', file, '--replace'])
  const sessions = () => live.server.query('select from svc.operator_sessions')
  expect(await sessions()).toEqual([])
  await svc(['admin', 'end-access'])
  await svc(['admin', 'reconcile'])
}
