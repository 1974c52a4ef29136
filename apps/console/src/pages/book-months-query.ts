import { api, responseOf } from '../api.ts'

/** Apart from the page, so that a page of one month loads nothing else of it. */
export const bookMonthsQuery = {
  queryKey: ['book-months'],
  queryFn: () => responseOf(api.GET('/book-months')),
}
