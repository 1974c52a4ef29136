import type { FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import type { Caller, Services } from '../platform/http/operation.ts'
import { accessTokens } from './access-token.ts'
import { Revocations } from './revocations.ts'

const BEARER = /^Bearer +([A-Za-z0-9_.-]{1,4096})$/i

/** Spec §5.2 and decision A6: the bearer token says who calls; `merchantAccessKey`, when sent, must name the same one. */
export function authenticateMerchant(services: Services): (request: FastifyRequest) => Promise<Caller> {
  const tokens = accessTokens(services)
  const revocations = new Revocations(services.database, services.clock)
  return async ({ headers }) => {
    const token = BEARER.exec(headers.authorization ?? '')?.[1] ?? fail('invalid_token')
    const { tenantId, credentialId, accessKey } = await tokens.verify(token)
    if (await revocations.includes(tenantId, credentialId)) fail('invalid_token')
    const named = headers['merchantaccesskey']
    if (named !== undefined && named !== accessKey) fail('access_key_mismatch')
    return { tenantId }
  }
}
