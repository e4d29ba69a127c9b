// UIDs of PS3.6 annex A that the agent uses: application context, SOP classes, transfer syntaxes.

export const APPLICATION_CONTEXT = "1.2.840.10008.3.1.1.1";

export const VERIFICATION = "1.2.840.10008.1.1";
export const STORAGE_COMMITMENT = "1.2.840.10008.1.20.1";
/** Well-known SOP instance of storage commitment. */
export const STORAGE_COMMITMENT_INSTANCE = "1.2.840.10008.1.20.1.1";
export const MODALITY_PERFORMED_PROCEDURE_STEP = "1.2.840.10008.3.1.2.3.3";
export const MODALITY_WORKLIST = "1.2.840.10008.5.1.4.31";

export const COMPUTED_RADIOGRAPHY_IMAGE = "1.2.840.10008.5.1.4.1.1.1";
export const ULTRASOUND_MULTI_FRAME_IMAGE = "1.2.840.10008.5.1.4.1.1.3.1";
export const ULTRASOUND_IMAGE = "1.2.840.10008.5.1.4.1.1.6.1";
export const VL_ENDOSCOPIC_IMAGE = "1.2.840.10008.5.1.4.1.1.77.1.1";
export const VIDEO_ENDOSCOPIC_IMAGE = "1.2.840.10008.5.1.4.1.1.77.1.1.1";
export const COMPREHENSIVE_SR = "1.2.840.10008.5.1.4.1.1.88.33";

export const IMPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2";
export const EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1";
export const DEFLATED_EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1.99";
export const EXPLICIT_BIG_ENDIAN = "1.2.840.10008.1.2.2";
export const JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
/** Lossless JPEG, process 14; then with selection value 1. */
export const JPEG_LOSSLESS = "1.2.840.10008.1.2.4.57";
export const JPEG_LOSSLESS_FIRST_ORDER = "1.2.840.10008.1.2.4.70";
export const JPEG_LS_LOSSLESS = "1.2.840.10008.1.2.4.80";
export const JPEG_LS = "1.2.840.10008.1.2.4.81";
export const JPEG_2000_LOSSLESS = "1.2.840.10008.1.2.4.90";
export const JPEG_2000 = "1.2.840.10008.1.2.4.91";
export const JPIP_REFERENCED_DEFLATE = "1.2.840.10008.1.2.4.95";
export const RLE_LOSSLESS = "1.2.840.10008.1.2.5";
/** Private GE transfer syntax: implicit VR, big endian pixel data. */
export const GE_PRIVATE_IMPLICIT = "1.2.840.113619.5.2";
