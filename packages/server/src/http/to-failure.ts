import { Failure } from '@svc/contract/errors'
import { isUnavailable } from '@svc/platform/db/database'
import { isTenantAway, onItsWay } from '@svc/platform/db/home'
import type { FastifyError, FastifyRequest } from 'fastify'
import { invalidFields } from './validation.ts'

const BY_CODE: Record<string, (request: FastifyRequest) => Failure> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions: { bodyLimit } }) =>
    new Failure('payload_too_large', {
      description: `The body is larger than ${bodyLimit} bytes, the limit of this operation`,
      headers: { connection: 'close' },
    }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Failure('bad_request', { headers: { connection: 'close' } }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Failure('unsupported_media_type'),
  FST_ERR_BAD_URL: () => new Failure('route_not_found'),
}

/** Any error to a failure that may be shown: what is not known here is our own mistake. */
export function toFailure(error: FastifyError | Failure, request: FastifyRequest): Failure {
  if (error instanceof Failure) return error
  if (error.validation)
    return new Failure('validation_failed', invalidFields(error.validation, error.validationContext))
  const known = error.code ? BY_CODE[error.code] : undefined
  if (known) return known(request)
  // Set by Fastify on what broke off while a body was read: the caller went away, not our database.
  if (error.statusCode === 400) return new Failure('bad_request', { cause: error })
  // A request that began before its tenant was held for its move (decision X40).
  if (isTenantAway(error)) return onItsWay(error)
  if (isUnavailable(error))
    return new Failure('temporarily_unavailable', { retryAfterSeconds: 1, cause: error })
  return new Failure('internal_error', { cause: error })
}
