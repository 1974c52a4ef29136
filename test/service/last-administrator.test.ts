import { insertOperator } from '@svc/console-api/identity/operator-store'
import { expect, test } from 'vitest'
import { Browser, newOperator } from '../harness/console.ts'
import { asSuperuser, openService } from '../harness/service.ts'

test('the last administrator who can sign in can be neither demoted nor disabled', async () => {
  const alone = await openService()
  try {
    const { name, operatorId } = await newOperator(alone, 'admin')
    const browser = new Browser(alone)
    await browser.signIn(name)
    for (const body of [{ role: 'viewer' }, { disabled: true }])
      expect((await browser.send('PATCH', `/operators/${operatorId}`, body)).error).toBe('last_administrator')
    await newOperator(alone, 'admin')
    expect((await browser.send('PATCH', `/operators/${operatorId}`, { disabled: true })).status).toBe(200)
    expect((await browser.get('/session')).status).toBe(401)
  } finally {
    await alone.close()
  }
})

test('administrators without a password count if they can sign in with a passkey or the identity provider; the sandbox’s administrator does not', async () => {
  const alone = await openService()
  const { database, random } = alone.app.services
  const withoutPassword = (name: string) =>
    database.operate((tx) => insertOperator(tx, random, { name, role: 'admin', passwordHash: null }))
  const sql = (text: string, values: unknown[]) =>
    asSuperuser(alone.db.database, (admin) => admin.query(text, values))
  try {
    const { name, operatorId } = await newOperator(alone, 'admin')
    const browser = new Browser(alone)
    await new Browser(alone).post('/session/sandbox')
    await withoutPassword('no.way.in')
    await browser.signIn(name)
    const change = async (id: string, body: object) =>
      (await browser.send('PATCH', `/operators/${id}`, body)).error
    expect(await change(operatorId, { role: 'viewer' })).toBe('last_administrator')
    const linked = await withoutPassword('by.provider')
    await sql('insert into operator_identities values ($1, $2, $3, now())', [
      'https://idp.example',
      'subject',
      linked.operatorId,
    ])
    const withKey = await withoutPassword('by.passkey')
    await sql(
      `insert into operator_passkeys (passkey_id, operator_id, credential_id, public_key, sign_count, transports, name, created_at)
       values ('psk_1', $1, 'x', 'y', 0, '{}', 'Key', now())`,
      [withKey.operatorId],
    )
    expect(await change(linked.operatorId, { disabled: true })).toBeUndefined()
    expect(await change(operatorId, { role: 'operator' })).toBeUndefined()
    const byClick = new Browser(alone)
    await byClick.post('/session/sandbox')
    const last = await byClick.send('PATCH', `/operators/${withKey.operatorId}`, { disabled: true })
    expect(last.error).toBe('last_administrator')
  } finally {
    await alone.close()
  }
})
