import { fail } from '@svc/contract/errors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { removeAbsentFields } from './absent-fields.ts'
import { isRail, mayChange, type Operation } from './operation.ts'

/** Whether an empty body is refused as such: what it lacks of required fields is reported field by field. */
export const needsBody = (operation: Operation): boolean => {
  const { properties = {}, required = [] } = (operation.body ?? {}) as {
    properties?: object
    required?: readonly string[]
  }
  const isAnyOptional = required.length === 0 && Object.keys(properties).length > 0
  return isAnyOptional && mayChange(operation) && !operation.mayLackBody && !isRail(operation)
}

/** A client that loses its body must not create or change what it did not ask for (decision C14). */
function refuseEmptyBody(request: FastifyRequest, _: FastifyReply, done: () => void): void {
  if (request.body === undefined)
    fail('validation_failed', {
      description: 'The body is missing: send a JSON object, {} where you want no field',
      errors: [{ in: 'body', pointer: '', rule: 'required', message: 'the body is required' }],
    })
  done()
}

/** Nothing at all is an empty object, so that a missing body is reported field by field. */
function emptyBodyIsAnObject(request: FastifyRequest, _: FastifyReply, done: () => void): void {
  if (request.body === undefined) request.body = {}
  done()
}

/** Drops optional fields that stand for their absence. */
export const absentFields =
  (schema: TSchema) =>
  (request: FastifyRequest, _: FastifyReply, done: () => void): void => {
    removeAbsentFields(schema, request.body)
    done()
  }

/** What happens to a request without a body, of an operation that reads one. */
export const whenEmpty = (operation: Operation) =>
  needsBody(operation) ? refuseEmptyBody : emptyBodyIsAnObject
