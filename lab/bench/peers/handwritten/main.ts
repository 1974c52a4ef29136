import fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { openAccess } from './access.ts'
import { mountCardSearch } from './card-search.ts'
import { mountCards } from './cards.ts'
import { mountCoins } from './coins.ts'
import { readConfig } from './config.ts'
import { openPool } from './database.ts'
import { type Envelope, Failure, failureBody } from './failures.ts'
import { mountPayments } from './payments.ts'
import { mountQrCodes } from './qr-codes.ts'
import { openRequestLog } from './request-log.ts'
import type { Services } from './services.ts'
import { newId } from './values.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The merchant or partner who calls; empty until that is known. */
    tenantId: string
    /** The body as it came. */
    bytes: Buffer
    failureCode: string | null
  }
  interface FastifyContextConfig {
    failureEnvelope?: Envelope
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'
const NO_BYTES = Buffer.alloc(0)

function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bytes = body
    try {
      done(null, body.length === 0 ? undefined : JSON.parse(body.toString()))
    } catch {
      done(new Failure('validation_failed', 'The body is not JSON'))
    }
  })
  app.addContentTypeParser<Buffer>('application/jose', { parseAs: 'buffer' }, (request, body, done) => {
    request.bytes = body
    done(null, body.toString())
  })
}

const failureOf = (error: FastifyError | Failure): Failure => {
  if (error instanceof Failure) return error
  return (error.statusCode ?? 500) < 500
    ? new Failure('validation_failed', error.message)
    : new Failure('internal_error')
}

function buildApp(): FastifyInstance {
  const app = fastify({
    logger: { level: 'info' },
    // The table of requests has them.
    disableRequestLogging: true,
    genReqId: () => newId('req'),
    requestIdHeader: false,
    keepAliveTimeout: 72_000,
    requestTimeout: 30_000,
    bodyLimit: 1_048_576,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  })
  app.decorateRequest('tenantId', '')
  app.decorateRequest('bytes')
  app.decorateRequest('failureCode', null)
  readBodies(app)
  app.addHook('onRequest', (request, reply, done) => {
    request.bytes = NO_BYTES
    reply.header('x-request-id', request.id).type(JSON_TYPE)
    done()
  })
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const failure = failureOf(error)
    if (failure.status === 500) request.log.error({ err: error, requestId: request.id }, 'request failed')
    request.failureCode = failure.code
    const envelope = request.routeOptions.config.failureEnvelope ?? 'response_code'
    return reply
      .code(failure.status)
      .type(JSON_TYPE)
      .send(failureBody(failure, envelope, request.id))
  })
  return app
}

function mountToken(app: FastifyInstance, { access }: Services): void {
  app.post('/api/v0/merchant/token', { config: { failureEnvelope: 'result_code' } }, ({ headers }, reply) => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    return access.issue(String(headers['api-key'] ?? ''))
  })
}

const config = readConfig()
const pool = openPool(config.databaseUrl, config.poolSize)
const app = buildApp()
// A connection that breaks while idle is replaced; without a listener the process would end.
pool.on('error', (err) => app.log.warn({ err }, 'an idle connection broke'))
const services: Services = { config, pool, access: await openAccess(config, pool) }
const requestLog = openRequestLog(pool, (err) => app.log.warn({ err }, 'the request log was not written'))
app.addHook('onResponse', (request, reply, done) => {
  requestLog.add(request, reply)
  done()
})
for (const mount of [mountToken, mountQrCodes, mountPayments, mountCards, mountCardSearch, mountCoins])
  mount(app, services)

const baseUrl = await app.listen({ host: '127.0.0.1', port: config.port })
app.log.info({ baseUrl }, 'ready')
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void app
      .close()
      .then(() => requestLog.close())
      .then(() => pool.end())
  })
