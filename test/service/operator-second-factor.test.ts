import { CONSOLE_OPERATIONS } from '@svc/console-api/console-operations'
import { Secret } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payloadOf } from '../harness/client.ts'
import { API, Browser, newOperator, PASSWORD, signedIn } from '../harness/console.ts'
import { codeOf } from '../harness/one-time-codes.ts'
import { asPartner, createCard, newPartner } from '../harness/partner.ts'
import { asSuperuser, openService, type TestService } from '../harness/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  // Many wrong codes of one address.
  const env = { SIGN_IN_FAILURES_PER_MINUTE: '1000' }
  service = await openService({ env })
  other = await openService({ db: service.db, env })
})
afterAll(async () => {
  await other.close()
  await service.close()
})

/** An operator who has set up an app with the code of now: their next one is `codeOf(secret, 1)`. */
async function withApp(role: 'viewer' | 'operator' | 'admin' = 'operator') {
  const operator = await newOperator(service, role)
  const browser = new Browser(service)
  await browser.signIn(operator.name)
  const { secret } = (await browser.post('/session/second-factor')).json
  const used = codeOf(secret)
  const { json, status } = await browser.post('/session/second-factor/confirm', { code: used })
  expect(status).toBe(200)
  return { ...operator, browser, secret: String(secret), used, recoveryCodes: json.recoveryCodes as string[] }
}

const signIn = async (at: TestService, name: string, code?: string) =>
  new Browser(at).post('/session', { name, password: PASSWORD, ...(code !== undefined && { code }) })

/** Their sign-in was so long ago. */
const age = (operatorId: string, minutes: number) =>
  asSuperuser(service.db.database, (admin) =>
    admin.query(
      `update operator_sessions set authenticated_at = authenticated_at - $2 * interval '1 minute' where operator_id = $1`,
      [operatorId, minutes],
    ),
  )

test('with an authenticator app a password alone is not enough, and each code is accepted once across all processes', async () => {
  const { name, operatorId, secret, used, recoveryCodes } = await withApp()
  expect((await signIn(service, name)).error).toBe('second_factor_required')
  expect((await signIn(service, name, used)).error).toBe('wrong_code')
  const code = codeOf(secret, 1)
  expect((await signIn(service, name, code)).status).toBe(200)
  expect((await signIn(other, name, code)).error).toBe('wrong_code')
  const [recovery = ''] = recoveryCodes
  const both = await Promise.all([service, other].map((at) => signIn(at, name, recovery.toUpperCase())))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  const admin = await signedIn(service, 'admin')
  const { data } = (await admin.get(`/audit?action=operator.signed_in&target=${operatorId}`)).json
  expect(data.map((entry: { details: { factors: string } }) => entry.details.factors)).toEqual([
    'password recovery',
    'password totp',
    'password',
  ])
})

test('one code sent to two processes at once signs in once', async () => {
  const { name, secret } = await withApp()
  const code = codeOf(secret, 1)
  const both = await Promise.all([service, other].map((at) => signIn(at, name, code)))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
})

test('after five wrong codes in a row even a correct one is rejected in every process, until an administrator resets', async () => {
  const { name, operatorId, browser, secret } = await withApp()
  const wrong = codeOf(secret) === '000000' ? '111111' : '000000'
  for (let tries = 0; tries < 5; tries++)
    expect((await signIn(service, name, wrong)).error).toBe('wrong_code')
  for (const at of [service, other]) {
    const { error, headers } = await signIn(at, name, codeOf(secret, 1))
    expect(error).toBe('second_factor_locked')
    expect(Number(headers['retry-after'])).toBeGreaterThan(800)
  }
  const admin = await signedIn(service, 'admin')
  expect((await admin.send('DELETE', `/operators/${operatorId}/second-factor`)).json).toEqual({
    removed: true,
  })
  expect((await browser.get('/session')).error).toBe('not_signed_in')
  expect((await signIn(service, name)).status).toBe(200)
})

test('a code that was right and is sent again is refused, but does not count as a wrong one', async () => {
  const { name, secret, used } = await withApp()
  for (let tries = 0; tries < 6; tries++) expect((await signIn(service, name, used)).error).toBe('wrong_code')
  expect((await signIn(service, name, codeOf(secret, 1))).status).toBe(200)
})

test('new recovery codes replace the old ones, and a removed app is no longer asked for', async () => {
  const { name, browser, recoveryCodes } = await withApp()
  const renewed = (await browser.post('/session/second-factor/recovery-codes')).json.recoveryCodes as string[]
  expect(new Set([...recoveryCodes, ...renewed]).size).toBe(20)
  expect((await signIn(service, name, recoveryCodes[0])).error).toBe('wrong_code')
  expect((await browser.get('/session/second-factor')).json).toMatchObject({
    isOn: true,
    recoveryCodesLeft: 10,
  })
  expect((await browser.send('DELETE', '/session/second-factor')).json).toEqual({ removed: true })
  expect((await signIn(service, name)).status).toBe(200)
})

test('the secret of an app and recovery codes are nowhere in the database in plain text', async () => {
  const { secret, recoveryCodes } = await withApp()
  const { rows } = await asSuperuser(service.db.database, (admin) =>
    admin.query<{ text: string }>(
      `select t::text as text from operator_totp t union all select c::text from operator_recovery_codes c
       union all select a::text from audit_log a`,
    ),
  )
  const all = rows.map(({ text }) => text).join('\n')
  const bytes = Buffer.from(Secret.fromBase32(secret).buffer).toString('hex')
  for (const hidden of [secret, bytes, ...recoveryCodes]) expect(all).not.toContain(hidden)
})

/** Every operation of an operator, with some value in each place of its path. */
const OF_OPERATORS = CONSOLE_OPERATIONS.filter(({ auth }) => auth === 'operator').map((operation) => ({
  ...operation,
  at: operation.path.slice(API.length).replaceAll(/:\w+/g, 'none'),
}))

test('where the role requires a second factor, only the operator’s own account works before it is set up', async () => {
  const strict = await openService({ db: service.db, env: { CONSOLE_SECOND_FACTOR: 'money' } })
  try {
    const { name } = await newOperator(service, 'admin')
    const browser = new Browser(strict)
    expect((await browser.signIn(name)).json.secondFactorNeeded).toBe(true)
    for (const { id, method, at, beforeSecondFactor } of OF_OPERATORS) {
      if (id === 'console.signOut') continue
      const { error } = await browser.send(method, at, method === 'GET' ? undefined : {})
      expect([id, error === 'second_factor_needed']).toEqual([id, !beforeSecondFactor])
    }
    const { secret } = (await browser.post('/session/second-factor')).json
    await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })
    expect((await browser.get('/merchants')).status).toBe(200)
    const viewer = await newOperator(service, 'viewer')
    const looking = new Browser(strict)
    expect((await looking.signIn(viewer.name)).json.secondFactorNeeded).toBe(false)
    expect((await looking.get('/merchants')).status).toBe(200)
  } finally {
    await strict.close()
  }
})

test('operations that move money or change rights require a sign-in within the last minutes; the password, with a code, renews it', async () => {
  const { operatorId, browser, secret } = await withApp('admin')
  await age(operatorId, 6)
  for (const { id, method, at, stepUp } of OF_OPERATORS) {
    if (id === 'console.signOut') continue
    const { error } = await browser.send(method, at, method === 'GET' ? undefined : {})
    expect([id, error === 'step_up_required']).toEqual([id, stepUp === true])
  }
  const again = (body: object) => browser.post('/session/step-up', body)
  expect((await again({ password: 'not this one, surely' })).error).toBe('wrong_password')
  expect((await again({ password: PASSWORD })).error).toBe('second_factor_required')
  expect((await again({ password: PASSWORD, code: codeOf(secret, 1) })).status).toBe(200)
  expect((await browser.post('/operators/none/password', {})).error).not.toBe('step_up_required')
})

test('setting up an app, however often, does not make the sign-in a recent one', async () => {
  const { operatorId, browser } = await withApp()
  const begin = async (): Promise<string> => (await browser.post('/session/second-factor')).json.secret
  const confirm = async (secret: string) =>
    (await browser.post('/session/second-factor/confirm', { code: codeOf(secret) })).error
  await age(operatorId, 4)
  expect((await browser.send('DELETE', '/session/second-factor')).json).toEqual({ removed: true })
  expect(await confirm(await begin())).toBeUndefined()
  expect((await browser.send('DELETE', '/session/second-factor')).json).toEqual({ removed: true })
  const secret = await begin()
  await age(operatorId, 2)
  expect(await confirm(secret)).toBe('step_up_required')
  expect((await browser.post('/session/second-factor')).error).toBe('step_up_required')
  expect((await browser.post('/session/step-up', { password: PASSWORD })).status).toBe(200)
  expect(await confirm(secret)).toBeUndefined()
})

/**
 * They move neither money nor rights, nor a tenant's events to another address, or only in the sandbox. A card's status
 * and a tenant's are changed both ways; the test below has which way is free.
 */
const WITHOUT: readonly string[] = [
  'acknowledgeAlert',
  'activateCard',
  'changeCardStatus',
  'changeMerchant',
  'changePartner',
  'createCardAccount',
  'createCoinConfig',
  'createCompany',
  'createQrCode',
  'createSpendRule',
  'createUser',
  'deactivateCoinConfig',
  'linkMerchant',
  'payQrCode',
  'readBankResponses',
  'readSettlement',
  'readStatement',
  'recognizeBankFile',
  'recordEvidenceReceipt',
  'refundToCard',
  'rejectPosting',
  'removeSpendRule',
  'replayWebhook',
  'requestEvidence',
  'resendWebhook',
  'revealPersonalData',
  'revokeInvitation',
  'runAuditVerification',
  'runReconciliation',
  'sendEvidence',
  'setCardFlags',
  'setCardKyc',
  'spendFromCard',
  'submitEvidence',
  'updateCardAccount',
  'updateCoinConfig',
  'updateCompany',
  'updateRecordSettings',
  'uploadAttachment',
  'verifyBookMonths',
]

test('an operation that changes something requires a recent sign-in, unless it moves neither money nor rights', () => {
  const free = OF_OPERATORS.filter(
    ({ method, permission, stepUp }) => method !== 'GET' && permission !== 'view' && !stepUp,
  )
  expect(free.map(({ id }) => id.replace('console.', '')).sort()).toEqual(WITHOUT)
})

test('blocking a card and enabling a tenant require a recent sign-in; locking and disabling, in an emergency, do not', async () => {
  const partner = await newPartner(service, { fundsPaise: 500_00n })
  const { partnerId } = partner
  const client = await asPartner(service.client, partner)
  const { svcCardId } = payloadOf(await createCard(client, partner, { loadAmount: 500 }))
  const { merchantId } = await service.newMerchant()
  const { name, operatorId } = await newOperator(service, 'operations')
  const browser = new Browser(service)
  await browser.signIn(name)
  await age(operatorId, 6)
  const change = async (status: string) =>
    (await browser.post(`/cards/${svcCardId}/status`, { status, reason: 'lost' })).error
  expect([await change('L'), await change('UL'), await change('BL')]).toEqual([
    undefined,
    undefined,
    'step_up_required',
  ])
  for (const tenant of [`/merchants/${merchantId}`, `/partners/${partnerId}`]) {
    expect((await browser.send('PATCH', tenant, { disabled: true })).json.status).toBe('disabled')
    expect((await browser.send('PATCH', tenant, { disabled: false })).error).toBe('step_up_required')
    expect((await browser.get(tenant)).json.status).toBe('disabled')
  }
  await browser.post('/session/step-up', { password: PASSWORD })
  for (const tenant of [`/merchants/${merchantId}`, `/partners/${partnerId}`])
    expect((await browser.send('PATCH', tenant, { disabled: false })).json.status).toBe('active')
  expect(await change('BL')).toBeUndefined()
})
