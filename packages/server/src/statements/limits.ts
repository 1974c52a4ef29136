/** Media type of statements. The files that make them are imported when one is requested: the fonts' library is large. */
export const PDF = 'application/pdf'
/** Statements that one caller may have made at a time. */
export const PDFS_MAX = 2
/** Lines that the statement of a payout lists; it adds up all. */
export const PDF_LINES_MAX = 5_000
